# SPDX-License-Identifier: Apache-2.0
"""The bench of collisions judges by the law of the node, bit by bit."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from bench_collision import simulated
from collision.contacts import Contact, Contacts
from collision.lanes import recording_of, sessions
from collision.methods import Ramps
from collision.robot import ROBOTS
from collision.roc import Curve

import robodyn_ros as rd
from robodyn_ros.analysis.thresholds.learn import Learning
from robodyn_ros.analysis.thresholds.session import feed
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.ramp_thresholds import RampThresholds
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.states.drives_off import DrivesOff
from robodyn_ros.control.torque.model_torque import ModelTorque

ROBOT, RATE = ROBOTS['cobot'], 500.0


@pytest.fixture(scope='module')
def torque():
    model = rd.load_model(ROBOT.urdf, friction=('coulomb', 'viscous', 'offset'))
    values = np.nan_to_num(model.prior())
    values[: len(ROBOT.values)] = ROBOT.values
    for k, item in enumerate(model.parameters):
        if item.name.endswith('.coulomb_friction'):
            values[k] = 3.0
    return ModelTorque(model, values, velocity_window=0.01)


@pytest.fixture(scope='module')
def measured():
    return simulated(ROBOT, 3, 13.0, RATE, np.random.default_rng(3))[0]


def test_torque_errors_and_verdicts_are_those_of_the_detector(torque, measured, monkeypatch):
    monkeypatch.setattr(DrivesOff, 'falls', lambda *_: False)  # torques fall at each stop
    settings = CollisionSettings(
        torque.joints, 1e6, period=1.0 / RATE, torque_error_filter=1.0, debounce=1
    )
    learning = simulated(ROBOT, 12, 15.0, RATE, np.random.default_rng(4))[0]
    parts = sessions(learning, torque, settings)
    method = Ramps.of(parts, settings.period, torque.friction_step, Learning())
    law = method.learned.law  # low enough for the verdicts to change often
    method = replace(method, learned=replace(method.learned, law=replace(
        law, single=0.3 * law.single, joint=0.3 * law.joint
    )))  # fmt: skip
    levels = set()
    for robot, series in enumerate(sessions(measured, torque, settings)):
        thresholds = RampThresholds(method.learned.law, 1.0)
        detector = TorqueErrorDetector(torque=torque, settings=settings, thresholds=thresholds)
        over = method.ratio(series) > 1.0
        data = recording_of(measured, robot, 1.0 / RATE, torque.joints)
        for row in feed(detector, data, series.samples.rests):
            velocity, _ = detector.motion
            assert (series.samples.error[row] == detector.torque_error.astype('f4')).all(), row
            assert (series.samples.velocity[row] == velocity.astype('f4')).all()
            assert series.used[row] == detector.settled
            if over[row]:  # a contact that was found lasts in the detector
                assert detector.latched, row
            levels.add(Level(detector.level.max()))
            detector.release()
    assert {Level.UNKNOWN, Level.OK, Level.COLLISION} <= levels


def test_onset_steepness_and_course_of_contacts():
    lever = np.eye(6)[2:3]
    pushes = [Contact(k, 10 + k, 'standstill', lever, 0.0, 30.0 * (k + 1)) for k in range(2)]
    contacts = Contacts(pushes, 2)
    link = np.zeros((2, 6))
    torque = np.array([contacts.torque(step, link) for step in range(200)])
    for k in range(2):
        # The first step has no force yet.
        assert contacts.onset[k] == 11 + k
        assert contacts.steepest[k] == pytest.approx(30.0 * (k + 1))
        start = contacts.onset[k]
        assert (contacts.course[k] == np.abs(torque[start : start + 100, k])).all()
    assert all(a <= b for a, b in pairwise(contacts.course[0, :, 2]))


def test_shares_and_delays_at_a_rate_of_false_alarms():
    curve = Curve(0.1)
    curve.add_healthy(np.repeat([0.2, 0.5, 0.4], 50))
    for course in ([0.0, 0.7, 0.1], [0.9, 0.0, 0.0], [0.4] * 3):
        curve.add_contact(np.array(course + [0.0] * 2), 0)
    every = np.ones(3, dtype=bool)
    assert curve.scale(0.0) == 0.5
    assert curve.scale(260.0) == 0.4  # one of three blocks
    assert curve.delays(0.5).tolist() == [0.2, 0.1, np.inf]
    assert curve.at(0.45, every) == (pytest.approx(240.0), pytest.approx(1 / 3), 0.2)
