# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from motions import assert_derivatives, assert_rest_at_ends

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.line import LineMotion
from robodyn_ros.models.kinematics import build_kinematics

ROBOTS = {
    'scara': build_kinematics(
        {'kind': 'scara', 'axes': 4, 'geometry': {'L1': 0.35, 'L2': 0.3, 's4': -1.0}}
    ),
    'delta': build_kinematics(
        {
            'kind': 'delta',
            'axes': 3,
            'geometry': {'R_b': 0.2, 'r_p': 0.045, 'L_AB': 0.35, 'L_BC': 0.8},
        }
    ),
}
POSES = {
    'scara': ([0.3, -0.3, 0.02, 0.5], [0.3, 0.3, 0.08, -1.0]),
    'delta': ([-0.275, 0.1, -0.7], [0.275, 0.1, -0.75]),
}
NAMES = ('one', 'two', 'three', 'four')


def line(kind='scara', start=None, target=None, **options):
    poses = POSES[kind]
    values = {'speed': 0.9, 'acceleration': 10.0, 'jerk': 300.0, **options}
    return LineMotion(
        joints=NAMES[: ROBOTS[kind].axes],
        robot=ROBOTS[kind],
        start=poses[0] if start is None else start,
        target=poses[1] if target is None else target,
        **values,
    )


@pytest.mark.parametrize('kind', ROBOTS)
@pytest.mark.parametrize('jerk', [300.0, None])
def test_a_line_is_straight_and_keeps_its_limits(kind, jerk):
    motion = line(kind, jerk=jerk)
    time = np.linspace(0.0, motion.duration, 3001)
    poses = ROBOTS[kind].forward(motion.sample(time).position)
    start, target = map(np.array, POSES[kind])
    way = target - start
    share = (poses[:, :3] - start[:3]) @ way[:3] / (way[:3] @ way[:3])
    np.testing.assert_allclose(poses, start + share[:, None] * way, rtol=0, atol=1e-9)
    np.testing.assert_allclose(poses[[0, -1]], [start, target], rtol=0, atol=1e-12)
    speed = np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1) / time[1]
    assert speed.max() == pytest.approx(0.9, rel=1e-6)
    middle = np.abs(time[:-1] - motion.duration / 2) < 0.4 * motion.profile.cruise_time
    np.testing.assert_allclose(speed[middle], 0.9, rtol=1e-6)
    assert np.abs(np.diff(speed)).max() / time[1] < 10.0 * (1 + 1e-3)


@pytest.mark.parametrize('kind', ROBOTS)
def test_velocity_and_acceleration_are_the_derivatives_and_the_ends_are_at_rest(kind):
    motion = line(kind, jerk=300.0)
    assert_derivatives(motion)
    assert_rest_at_ends(motion)
    assert_derivatives(line(kind, jerk=None))
    assert_rest_at_ends(line(kind, jerk=None), acceleration=False)


PLACES = st.tuples(st.floats(-0.6, 0.6), st.floats(-0.6, 0.6), st.floats(0.0, 0.1))


@given(PLACES, PLACES, st.sampled_from([-1.0, 1.0]), st.integers(-2, 2))
@settings(max_examples=40, deadline=None)
def test_any_line_is_continuous_from_end_to_end(start, target, side, turns):
    """Also where the direction of the tool passes half a turn, and turns already made stay."""
    start, target = np.append(start, 0.2), np.append(target, -0.4)
    way = target[:2] - start[:2]
    assume(np.hypot(*way) > 0.05)
    nearest = start[:2] - np.clip((start[:2] @ way) / (way @ way), -1, 0) * way
    assume(np.hypot(*nearest) > 0.1)
    for end in (start, target):
        assume(np.hypot(*end[:2]) < 0.63)
    near = np.array([2 * np.pi * turns, side, 0.0, 0.0])
    motion = line('scara', start, target, near=near)
    time = np.linspace(0.0, motion.duration, 1500)
    samples = motion.sample(time)
    poses = ROBOTS['scara'].forward(samples.position)
    np.testing.assert_allclose(poses[[0, -1]], [start, target], atol=1e-12)
    assert (np.sign(samples.position[:, 1]) == side).all()
    # a trapezoid of the mean velocity of both samples, and nothing that jumps
    expected = 0.5 * (samples.velocity[1:] + samples.velocity[:-1]) * time[1]
    np.testing.assert_allclose(np.diff(samples.position, axis=0), expected, atol=2e-3)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'target': [0.9, 0.3, 0.0, 0.0]}, 'the line cannot be followed: a scara cannot reach'),
        (
            {'start': [-0.3, 0.01, 0, 0], 'target': [0.3, 0.01, 0, 0]},
            'cannot be followed: a scara',
        ),
        ({'target': POSES['scara'][0]}, 'needs a target at another place than its start'),
        ({'target': [0.1, 0.2]}, 'target must have 3 or 4 finite values'),
        ({'near': [0.0]}, 'near must have 4 values'),
        ({'speed': 0.0}, 'max_velocity of a speed profile must be a number above 0, got 0.0'),
        ({'jerk': -1.0}, 'max_jerk of a speed profile'),
    ],
)
def test_refuses_with_one_sentence(change, message):
    with pytest.raises(MotionError, match=message):
        line(**change)


def test_refuses_other_joints_than_the_robot_has():
    with pytest.raises(MotionError, match='a robot with 3 axes needs as many joints'):
        LineMotion(
            joints=NAMES, robot=ROBOTS['delta'], start=[0], target=[1], speed=1, acceleration=1
        )
