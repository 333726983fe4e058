# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from control_arm import small_arm
from robots import SIX_AXIS
from simulation import sines

from robodyn_ros.control.health.hypotheses import Cause
from robodyn_ros.control.health.monitor import HealthMonitor, HealthSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.payload import payload_of

ARM = robot_model(SIX_AXIS)
VALUES = np.array([
    {'rotor_inertia': 3.0, 'viscous_friction': 5.0, 'coulomb_friction': 8.0}.get(
        parameter.name.rpartition('.')[2], value
    )
    for parameter, value in zip(ARM.parameters, np.nan_to_num(ARM.prior()), strict=True)
])  # fmt: skip
THRESHOLD = np.array([20.0, 25.0, 15.0, 3.0, 3.0, 2.0])
COUNT = 240
"""Samples: half as many again as the window."""


def monitored(
    lacking, *, seed=1, settings=None, arm=ARM, values=VALUES, threshold=THRESHOLD, still=()
):
    """Report after a motion whose feedback exceeds the model torque by `lacking(q, qd, qdd)`."""
    torque = ModelTorque(arm, values, velocity_window=0.01)
    monitor = HealthMonitor(arm, torque, settings)
    time, *motion = sines(len(torque.joints), COUNT, rate=20.0, seed=seed)
    q, qd, qdd = (
        np.where(np.isin(range(len(torque.joints)), still), 0.0, each) for each in motion
    )
    noise = 0.15 * threshold * np.random.default_rng(seed).normal(size=q.shape)
    error = noise - lacking(q, qd, qdd)
    for row, signals in enumerate(zip(time, q, qd, qdd, error, strict=True)):
        monitor.take(*signals, threshold)
        if row % 5 == 4:
            monitor.process()
    return monitor.evaluate()


def nothing(q, _, __):
    return np.zeros_like(q)


def test_a_model_that_fits_is_reported_so():
    report = monitored(nothing)
    assert report.cause == Cause.NONE
    assert report.message == 'the model fits'
    assert report.motion == pytest.approx(8.0)
    assert (report.removed, report.joint) == (0.0, 'joint6')
    assert report.share == pytest.approx(0.15, abs=0.03), 'noise only'


@pytest.mark.parametrize(('mass', 'word'), [(2.8, 'attached'), (-2.0, 'missing')])
def test_a_payload_is_told_with_its_interval(mass, word):
    load = payload_of(ARM, abs(mass), center_of_mass=(0.05, 0.02, 0.08))

    def carried(q, qd, qdd):
        return np.sign(mass) * load.model.torque(q, qd, qdd, load.values)

    sure, report = (
        monitored(carried, settings=HealthSettings(gain_uncertainty=share))
        for share in (0.0, 0.02)
    )
    assert report.cause == Cause.PAYLOAD
    assert abs(report.mass - mass) < report.mass_interval
    assert sure.mass_interval < 0.05 * abs(mass)
    widened = np.hypot(sure.mass_interval, 2.0 * 0.02 * report.mass)
    assert report.mass_interval == pytest.approx(widened)
    miss = np.abs(report.center_of_mass - (0.05, 0.02, 0.08))
    assert (miss < report.center_of_mass_interval).all()
    assert (report.center_of_mass_interval < 0.02).all()
    assert report.removed > 0.9
    told = f'payload {abs(mass):.2g} +- {report.mass_interval:.1g} kg {word}? Give it with ~/set'
    assert report.message.startswith(told)


def test_warming_is_told_as_friction():
    def warmer(_, qd, __):
        return -0.2 * (8.0 * np.tanh(qd / 0.01) + 5.0 * qd)

    report = monitored(warmer)
    assert report.cause == Cause.FRICTION and report.removed > 0.9
    np.testing.assert_allclose(report.dry_friction, -0.2, atol=0.06)
    assert report.share == pytest.approx(1.35, rel=0.1), 'its root mean square over the threshold'
    told = (
        f'friction of joint6 is 19% lower than identified and takes {report.share:.0%} of its thr'
    )
    assert report.message.startswith(told)
    assert report.message.endswith('identify again, or include this temperature in the thresholds')
    assert 'is 20% higher than' in monitored(lambda *state: -warmer(*state)).message
    partly = monitored(warmer, still=[3]).dry_friction
    np.testing.assert_allclose(partly, [-0.2, -0.2, -0.2, 0.0, -0.2, -0.2], atol=0.06)
    # Too little for anybody to act on.
    assert monitored(lambda *state: 0.05 * warmer(*state)).cause == Cause.NONE


def test_a_weaker_torque_constant_is_told_as_gain():
    torque = ModelTorque(ARM, VALUES, velocity_window=0.01)
    joint = np.arange(6) == 1

    def weaker(q, qd, qdd):
        return joint * (3.0 - 0.1 * torque.torque(q, qd, qdd))

    report = monitored(weaker)
    assert report.cause == Cause.GAIN
    assert report.gain[1] == pytest.approx(-0.1, abs=0.02)
    assert report.message.startswith(
        'torque feedback of joint2 changed by -10% and +3.3 (takes 120%'
    )


def test_a_push_is_explained_by_nothing():
    def push(q, _, __):
        result = np.zeros_like(q)
        result[190:200] = THRESHOLD * (4.0, -3.0, 5.0, 0.0, 4.0, 0.0)
        return result

    report = monitored(push)
    assert report.cause == Cause.NONE
    assert report.message.startswith('nothing explains the torque error of joint3 (12')


def test_standstill_is_no_evidence_and_other_motion_is_forgotten():
    torque = ModelTorque(ARM, VALUES)
    monitor = HealthMonitor(ARM, torque)
    still = np.zeros(6)
    for row in range(300):
        monitor.take(0.05 * row, still, still, still, THRESHOLD, THRESHOLD)
        monitor.process()
    report = monitor.evaluate()
    assert report.cause == Cause.UNKNOWN
    assert report.message == '0 of 8 s of motion so far'
    assert (report.motion, report.removed, report.share) == (0.0, 0.0, 0.0)
    monitor.clear('the payload was changed')
    assert monitor.report.message == 'the payload was changed'


def test_samples_that_nobody_processes_are_bounded_and_bad_ones_ignored():
    monitor = HealthMonitor(ARM, ModelTorque(ARM, VALUES))
    moving = np.ones(6)
    for row in range(1000):
        bad = moving * (np.nan if row // 5 % 2 else 1.0)
        monitor.take(0.01 * row, moving, moving, moving, bad, THRESHOLD)
    monitor.process()
    assert monitor.evaluate().motion == pytest.approx(32 * 0.05)
    monitor.clear('the payload was changed')
    assert monitor.evaluate().motion == 0.0


def test_models_without_links_tell_what_they_can():
    scara = build_model({
        'kind': 'scara', 'dynamic_model': 1, 'joints': [f'joint{k}' for k in range(1, 5)],
        'geometry': {'L1': 0.3, 'L2': 0.25}, 'friction': ['viscous', 'coulomb'],
    })  # fmt: skip
    values = np.ones(len(scara.parameters))
    load = payload_of(scara, 2.0)

    def carried(q, qd, qdd):
        return load.model.torque(q, qd, qdd, load.values)

    report = monitored(carried, arm=scara, values=values, threshold=np.array([0.5, 0.3, 2.0, 0.3]))
    assert report.cause == Cause.PAYLOAD
    assert report.mass == pytest.approx(2.0, rel=0.15)
    assert np.isnan(report.center_of_mass).all()


def test_small_arm_without_effect_of_a_payload_is_no_error():
    model, values = small_arm()
    assert monitored(nothing, arm=model, values=values, threshold=np.ones(2)).cause == Cause.NONE
