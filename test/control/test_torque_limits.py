# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from control_arm import small_arm
from planned_effort import trajectory_effort

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import (
    PeakTorque,
    PlannedTorque,
    check_planned,
    peak_torque,
    prior_torque,
    torque_limit,
)
from robodyn_ros.errors import ConfigError, ControlError
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.long_work import complete
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import BLOCK_SIZE

MODEL, VALUES = small_arm()
TORQUE = ModelTorque(MODEL, VALUES)
NAMES = list(MODEL.joint_names)
DRIVE = {
    'unit': 'Nm', 'side': 'joint', 'gravity': 'included', 'torque_constant': 0.5,
    'gear_ratio': 100.0, 'rated_current': 4000.0, 'peak_current': 10000.0,
}  # fmt: skip


def motion(joints=NAMES, duration=3.0):
    return SineMotion(
        joints=joints, start=[0.0, 0.1], target=[0.6, -0.4], frequency=[0.9, 1.3],
        duration=duration,
    )  # fmt: skip


def drives(**changes):
    return EffortDeclaration.from_mapping({**DRIVE, **changes}).for_joints(NAMES)


@pytest.mark.parametrize('duration', [3.0, 0.002 * (BLOCK_SIZE + 100)])
def test_peak_is_found_with_its_time_across_blocks(duration):
    found = peak_torque(TORQUE, motion(duration=duration))
    time = np.linspace(0.0, duration, 40_000)
    fine = motion(duration=duration).sample(time)
    exact = np.abs(TORQUE.torque(fine.position, fine.velocity, fine.acceleration))
    np.testing.assert_allclose(found.torque, exact.max(axis=0), rtol=0.02)
    for joint in range(2):
        at = motion(duration=duration).sample(found.time[joint : joint + 1])
        there = TORQUE.torque(at.position, at.velocity, at.acceleration)[0, joint]
        assert abs(there) == pytest.approx(found.torque[joint], rel=1e-9)


def test_without_an_identification_only_friction_may_be_unknown(monkeypatch):
    torque, unknown = prior_torque(MODEL)
    assert unknown == [item.name for item in MODEL.parameters[22:]]
    at = np.full((1, 2), 0.3)
    values = np.nan_to_num(MODEL.prior())
    np.testing.assert_allclose(torque.torque(at, at, at), MODEL.torque(at, at, at, values))
    monkeypatch.setattr(MODEL, 'prior', lambda: np.where(np.arange(28) == 21, np.nan, values))
    with pytest.raises(ConfigError, match=r'and joint2\.rotor_inertia has none: give the param'):
        prior_torque(MODEL)
    axis = build_model({'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['a']})
    with pytest.raises(ConfigError, match='torque_max needs a model with values, and'):
        prior_torque(axis)


def test_joints_are_matched_by_name():
    swapped = SineMotion(
        joints=NAMES[::-1], start=[0.1, 0.0], target=[-0.4, 0.6], frequency=[1.3, 0.9],
        duration=3.0,
    )  # fmt: skip
    first, second = peak_torque(TORQUE, motion()), peak_torque(TORQUE, swapped)
    np.testing.assert_allclose(first.torque, second.torque)
    other = SineMotion(joints=['x'], start=[0.0], target=[0.1], frequency=[1.0], duration=3.0)
    with pytest.raises(ControlError, match="the motion has no joint 'joint1'"):
        peak_torque(TORQUE, other)


def test_a_motion_that_needs_more_is_refused_with_joint_and_time():
    peak = peak_torque(TORQUE, motion())
    check_planned(peak, peak.torque)
    limit = peak.torque * [1.1, 0.8]
    expected = (
        rf'needs {peak.torque[1]:.4g} Nm of joint .joint2. at {peak.time[1]:.3f} s, '
        rf'torque_max is {limit[1]:.4g}'
    )
    with pytest.raises(ControlError, match=expected):
        check_planned(peak, limit, ['Nm', 'Nm'])
    spline = SplineTrajectory(
        points=TrajectoryPoints(TORQUE.joints, [0.0, 1.0], np.array([[0.0, 0.0], [0.5, -0.3]]))
    )
    plan = trajectory_effort(spline, TORQUE, FeedforwardSettings(NAMES, max_torque=200.0))
    largest = np.abs(TORQUE.torque(plan.position, plan.velocity, plan.acceleration)).max(axis=0)
    complete(PlannedTorque(TORQUE, 1.01 * largest, MODEL.joints).check(plan))
    with pytest.raises(ControlError, match="Nm of joint 'joint1' at"):
        limit = np.array([0.99, 1.01]) * largest
        complete(PlannedTorque(TORQUE, limit, MODEL.joints).check(plan))


@pytest.mark.parametrize('joint', [0, 1])
def test_torque_that_is_not_finite_is_refused_in_a_motion_and_in_its_peak(joint, monkeypatch):
    bad = np.where(np.arange(2) == joint, np.nan, 0.1)
    with pytest.raises(ControlError, match=f'needs nan Nm or N of joint .joint{joint + 1}.'):
        check_planned(PeakTorque(TORQUE.joints, bad, np.zeros(2)), np.ones(2))
    monkeypatch.setattr(TORQUE, 'torque', lambda q, qd, qdd: bad + 0.0 * q)
    with pytest.raises(ControlError, match='model torque of the motion is not finite'):
        peak_torque(TORQUE, motion())


def test_limits_in_newton_metres():
    assert torque_limit('torque_max', None, NAMES) is None
    np.testing.assert_array_equal(torque_limit('torque_max', 5.0, NAMES), [5.0, 5.0])
    np.testing.assert_array_equal(torque_limit('torque_max', [5], NAMES), [5.0, 5.0])
    np.testing.assert_array_equal(torque_limit('torque_max', [5.0, 6.0], NAMES), [5.0, 6.0])


def test_limits_of_rated_and_peak_current_by_the_formulas_of_the_document():
    tfac = 1e6 / (0.5 * 4000.0 * 100.0)
    rated = torque_limit('torque_threshold', 'rated', NAMES, drives())
    np.testing.assert_allclose(rated, [1000.0 / tfac] * 2)
    peak = torque_limit('torque_threshold', 'peak', NAMES, drives())
    np.testing.assert_allclose(peak, [1000.0 * 10000.0 / (tfac * 4000.0)] * 2)
    np.testing.assert_allclose(peak, 0.5 * 10.0 * 100.0)


def test_a_rated_torque_needs_no_current():
    given = {**DRIVE, 'rated_torque': 2500.0}
    for fact in ('rated_current', 'peak_current', 'torque_constant'):
        del given[fact]
    conversion = EffortDeclaration.from_mapping(given).for_joints(NAMES)
    found = torque_limit('torque_max', 'rated', NAMES, conversion)
    np.testing.assert_allclose(found, [250.0, 250.0])
    with pytest.raises(ConfigError, match=r"peak needs effort.rated_current of joint 'joint1'$"):
        torque_limit('torque_max', 'peak', NAMES, conversion)


@pytest.mark.parametrize(
    ('given', 'conversion', 'sentence'),
    [
        ([1.0] * 3, None, 'needs one value for each of the 2 joints, got 3'),
        ([], None, 'got 0'),
        ([1.0, -2.0], None, 'of joint joint2 must be above 0, got -2.0'),
        (0.0, None, 'of joint joint1 must be above 0, got 0'),
        ([float('nan')], None, 'must be above 0, got nan'),
        ([1.0, float('inf')], None, 'of joint joint2 must be above 0, got inf'),
        ([True], None, 'must be numbers in Nm or N'),
        ('rated', None, 'rated needs the drive facts: declare effort'),
        ('maximal', drives(), "or one of rated, peak, got 'maximal'"),
        ('peak', drives(peak_current=0.0), "peak needs effort.peak_current of joint 'joint1'"),
        (
            'peak',
            drives(joints=NAMES, peak_current=[1e4, 0.0]),
            "needs effort.peak_current of joint 'joint2'",
        ),
        ('rated', drives(torque_constant=0.0), 'needs effort.torque_constant or effort.force'),
        ('rated', drives(rated_current=0.0, peak_current=0.0), 'or its effort.rated_torque'),
    ],
)
def test_limits_that_are_none(given, conversion, sentence):
    with pytest.raises(ConfigError, match=f'torque_max.*{sentence}'):
        torque_limit('torque_max', given, NAMES, conversion)
