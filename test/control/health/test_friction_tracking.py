# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import SIX_AXIS
from simulation import sines

from robodyn_ros.control.health.evidence import Evidence
from robodyn_ros.control.health.friction_tracking import FrictionTracking
from robodyn_ros.control.health.hypotheses import Cause, hypotheses_of
from robodyn_ros.control.health.monitor import HealthMonitor
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.catalog import robot_model

ARM = robot_model(SIX_AXIS)
VALUES = np.array([
    {'viscous_friction': 5.0, 'coulomb_friction': 8.0}.get(
        parameter.name.rpartition('.')[2], value
    )
    for parameter, value in zip(ARM.parameters, np.nan_to_num(ARM.prior()), strict=True)
])  # fmt: skip
THRESHOLD = np.array([20.0, 25.0, 15.0, 3.0, 3.0, 2.0])


def warmed(share, most):
    """Monitor and values in use after 40 s of motion with friction changed by a share."""
    truth, values = VALUES.copy(), VALUES.copy()
    friction = [i for i, item in enumerate(ARM.parameters) if 'friction' in item.name]
    truth[friction] *= 1.0 + share
    torque = ModelTorque(ARM, VALUES)
    tracking = FrictionTracking(ARM, VALUES, most=most)
    monitor = HealthMonitor(ARM, torque, tracking=tracking)
    time, q, qd, qdd = sines(6, 800, rate=20.0, seed=3)
    feedback = ARM.torque(q, qd, qdd, truth)
    feedback += 0.1 * THRESHOLD * np.random.default_rng(0).normal(size=q.shape)
    for row, stamp in enumerate(time):
        one = slice(row, row + 1)
        error = torque.torque(q[one], qd[one], qdd[one]) - feedback[one]
        monitor.take(stamp, q[row], qd[row], qdd[row], error[0], THRESHOLD)
        if row % 20 == 19:
            monitor.evaluate()
            monitor.process()
            values = VALUES + tracking.added()
            torque.set_values(values)
    return monitor, values[friction] / truth[friction]


def test_friction_is_followed_and_still_reported():
    monitor, ratio = warmed(-0.2, most=0.3)
    np.testing.assert_allclose(ratio[0::3], 1.0, atol=0.06)  # viscous, Coulomb, offset
    np.testing.assert_allclose(ratio[1::3], 1.0, atol=0.06)
    assert monitor.report.cause == Cause.FRICTION
    np.testing.assert_allclose(monitor.report.dry_friction, -0.2, atol=0.06)
    assert 'it is followed' in monitor.report.message


def test_friction_is_followed_up_to_the_limit():
    monitor, ratio = warmed(-0.2, most=0.1)
    np.testing.assert_allclose(ratio[1::3], 0.9 / 0.8, atol=0.02)
    assert 'identify again' in monitor.report.message
    np.testing.assert_allclose(monitor.report.dry_friction, -0.2, atol=0.06)


def test_a_joint_without_friction_has_no_limit_to_reach():
    values = VALUES.copy()
    values[[item.name.startswith('joint1.') for item in ARM.parameters]] = 0.0
    tracking = FrictionTracking(ARM, values, most=0.3)
    assert not tracking.at_limit
    tracking.follow(np.full(12, 1e9))
    assert tracking.at_limit


def test_shifted_evidence_is_that_of_the_changed_model():
    torque = ModelTorque(ARM, VALUES)
    hypotheses = hypotheses_of(ARM, torque)
    _, q, qd, qdd = sines(6, 40, rate=20.0)
    lacking = np.random.default_rng(1).normal(size=q.shape)
    number = [each.cause for each in hypotheses].index(Cause.FRICTION)
    change = np.linspace(-1.0, 2.0, 12)
    moved = lacking - hypotheses[number].columns(q, qd, qdd) @ change
    shifted, fresh = (Evidence(hypotheses, 6, blocks=4, block_samples=10) for _ in range(2))
    shifted.add(q, qd, qdd, lacking, np.ones_like(q))
    shifted.shift(shifted.places[number], change)
    fresh.add(q, qd, qdd, moved, np.ones_like(q))
    np.testing.assert_allclose(shifted.per_joint(), fresh.per_joint(), rtol=1e-9, atol=1e-6)


def test_blocks_before_the_last_ones_are_forgotten():
    hypotheses = hypotheses_of(ARM, ModelTorque(ARM, VALUES))
    motion = 1e-3 * np.array(sines(6, 60, rate=20.0)[1:])
    signals = (*motion, *np.random.default_rng(2).normal(size=(1, 60, 6)), np.ones((60, 6)))
    long, short = (Evidence(hypotheses, 6, blocks=4, block_samples=10) for _ in range(2))
    long.add(*(each[:35] for each in signals))
    long.add(*(each[35:] for each in signals))
    short.add(*(each[20:] for each in signals))
    np.testing.assert_allclose(long.per_joint(), short.per_joint(), rtol=1e-9, atol=1e-9)
    for kinds in zip(long.folds(), short.folds(), strict=True):
        for old, new in zip(*kinds, strict=True):
            np.testing.assert_allclose(old, new, rtol=1e-9, atol=1e-9)


def test_a_law_without_coulomb_friction_is_refused():
    model = robot_model(SIX_AXIS, friction=['viscous'])
    with pytest.raises(ControlError, match='joint joint1 has'):
        FrictionTracking(model, np.ones(len(model.parameters)), most=0.3)
