# SPDX-License-Identifier: Apache-2.0
"""The bench of collisions judges by the law of the node, bit by bit."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from bench_collision import simulated
from collision.contacts import Contact, Contacts
from collision.lanes import recording_of, sessions
from collision.methods import Mapped, ratio
from collision.robot import ROBOTS
from collision.roc import Curve

import robodyn_ros as rd
from robodyn_ros.analysis.thresholds.session import feed
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.threshold_map import MappedThresholds
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


def test_torque_errors_thresholds_and_verdicts_are_those_of_the_detector(torque, measured):
    settings = CollisionSettings(torque.joints, 1e6, period=1.0 / RATE)
    learning = simulated(ROBOT, 12, 13.0, RATE, np.random.default_rng(4))[0]
    parts = sessions(learning, torque, settings, np.float32)
    method = Mapped.learned(parts, torque.friction_step, settings.debounce)
    # Low enough for the verdicts to change often.
    given = replace(method.map, collision=0.3 * method.map.collision, contact=1.0, change=None)
    method = replace(method, map=given)
    levels = set()
    for robot, series in enumerate(sessions(measured, torque, settings)):
        detector = TorqueErrorDetector(
            torque=torque, settings=settings, thresholds=MappedThresholds(given)
        )
        threshold = method.threshold(series)
        over = ratio(series, threshold, method) > 1.0
        data = recording_of(measured, robot, 1.0 / RATE, torque.joints)
        for row in feed(detector, data):
            velocity, acceleration = detector.motion
            assert (series.residual[row] == np.abs(detector.torque_error)).all(), row
            assert (series.velocity[row] == velocity).all()
            assert (series.acceleration[row] == np.abs(acceleration)).all()
            assert (threshold[row] == detector.threshold).all()
            assert series.used[row] == detector.settled
            assert over[row] == detector.latched
            levels.add(Level(detector.level.max()))
            detector.release()
    assert levels == {Level.UNKNOWN, Level.OK, Level.COLLISION}


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


def test_shares_delays_and_what_can_be_found_at_a_rate_of_false_alarms():
    curve = Curve(0.1)
    curve.add_healthy(np.repeat([0.2, 0.5, 0.4], 10))
    for course, most in (([0.0, 0.7, 0.1], 0.9), ([0.9, 0.0, 0.0], 0.95), ([0.4] * 3, 0.3)):
        curve.add_contact(np.array(course + [0.0] * 2), 0)
        curve.ideal.append(most)
    every = np.ones(3, dtype=bool)
    assert curve.scale(0.0) == 0.5
    assert curve.scale(1300.0) == 0.4  # one of three seconds
    assert curve.delays(0.5).tolist() == [0.2, 0.1, np.inf]
    assert curve.at(0.45, every) == (pytest.approx(1200.0), pytest.approx(1 / 3), 0.2)
    assert curve.ceiling(0.5, every) == pytest.approx(2 / 3)
