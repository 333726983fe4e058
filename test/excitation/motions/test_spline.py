# SPDX-License-Identifier: Apache-2.0
"""Points joined as the joint_trajectory_controller joins them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints

JOINTS = ('a', 'b')


def random_points(seed, count=6, levels=2, joints=JOINTS):
    generator = np.random.default_rng(seed)
    shape = (count, len(joints))
    time = np.append(0.0, np.cumsum(generator.uniform(0.05, 1.0, count - 1)))
    fields = [generator.normal(size=shape) if k <= levels else None for k in range(3)]
    return TrajectoryPoints(joints, time, *fields, effort=generator.normal(size=shape))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(0, 2))
def test_polynomials_equal_scipys_hermite_interpolation(seed, levels):
    points = random_points(seed, levels=levels)
    spline = SplineTrajectory(points=points)
    fields = [points.position, points.velocity, points.acceleration][: levels + 1]
    oracle = BPoly.from_derivatives(points.time, np.stack(fields, axis=1))
    time = np.linspace(0.0, spline.duration, 200)[:-1]
    motion = spline.sample(time)
    np.testing.assert_allclose(motion.position, oracle(time), atol=1e-9)
    np.testing.assert_allclose(motion.velocity, oracle(time, 1), atol=1e-7)
    np.testing.assert_allclose(motion.acceleration, oracle(time, 2), atol=1e-5)


def test_one_time_and_many_times_agree():
    spline = SplineTrajectory(points=random_points(3))
    time = np.linspace(-0.5, spline.duration + 0.5, 57)
    motion = spline.sample(time)
    for row, t in enumerate(time):
        expected = motion.position[row], motion.velocity[row], motion.acceleration[row]
        got = spline.at(min(t, spline.duration))
        np.testing.assert_allclose(got, expected, atol=1e-12)
    np.testing.assert_allclose(spline.at(spline.duration)[1], spline.points.velocity[-1])


def test_two_points_are_joined_by_what_both_give():
    nan = np.nan
    points = TrajectoryPoints(
        ('a',), [0, 1, 2, 3], [[0], [1], [3], [4]], [[0.5], [nan], [0.0], [0.0]]
    )
    motion = SplineTrajectory(points=points).sample(np.array([0.25, 1.5, 2.5, 3.0]))
    np.testing.assert_allclose(motion.position[:, 0], [0.25, 2.0, 3.5, 4.0])
    np.testing.assert_allclose(motion.velocity[:, 0], [1.0, 2.0, 1.5, 0.0])


def test_start_is_put_before_points_that_begin_later_and_only_then():
    points = TrajectoryPoints(JOINTS, [1.0], [[2.0, 4.0]], effort=[[6.0, 8.0]])
    zero = np.zeros(2)
    begun = points.with_start(zero, zero, zero, np.array([2.0, 0.0]))
    assert SplineTrajectory(points=begun).at(0.5)[0].tolist() == [1.0, 2.0]
    np.testing.assert_allclose(begun.effort_at(np.array([0.5, 9.0])), [[4, 4], [6, 8]])
    assert begun.with_start(zero, zero, zero, zero) is begun
    with pytest.raises(MotionError, match='must be at 0 s, got 1 s'):
        SplineTrajectory(points=points)


def test_a_point_without_effort_counts_as_zero():
    nan = np.nan
    points = TrajectoryPoints(('a',), [0, 1, 2], [[0.0]] * 3, effort=[[4.0], [nan], [2.0]])
    np.testing.assert_allclose(points.effort_at(np.array([0.5, 1.0, 1.5]))[:, 0], [2, 0, 1])
    bare = TrajectoryPoints(('a',), [0, 1], [[0.0]] * 2)
    assert bare.effort_at(np.array([0.3]))[0, 0] == 0.0


@pytest.mark.parametrize(
    ('joints', 'time', 'position', 'extra', 'sentence'),
    [
        (('a', 'a'), [0], [[0, 0]], {}, "joint 'a' more than once"),
        (('a',), [], np.empty((0, 1)), {}, 'at least one point'),
        (('a',), [0, 1, 1], [[0]] * 3, {}, 'point 2 has 1 s after 1 s'),
        (('a',), [0, np.inf], [[0]] * 2, {}, 'point 1 must be a number not below 0, got inf'),
        (('a',), [-1, 0], [[0]] * 2, {}, 'point 0 must be a number not below 0, got -1'),
        (('a', 'b'), [0, 1], [[0]] * 2, {}, r'shape \(2, 2\).*got \(2, 1\)'),
        (('a',), [0, 1], [[0], [np.nan]], {}, "position of joint 'a' is nan at point 1"),
        (('a', 'b'), [0], [[0, 0]], {'effort': [[1, np.nan]]}, "effort of joint 'b' is nan"),
        (('a',), [0], [[0]], {'velocity': [[np.inf]]}, "velocity of joint 'a' is inf"),
    ],
)
def test_points_no_controller_could_follow_are_refused(joints, time, position, extra, sentence):
    with pytest.raises(MotionError, match=sentence):
        TrajectoryPoints(joints, time, position, **extra)


def message(*points, joints=JOINTS):
    rows = []
    for time, *fields in points:
        stamp = SimpleNamespace(sec=int(time), nanosec=round((time % 1) * 1e9))
        fields += [[]] * (4 - len(fields))
        names = ('positions', 'velocities', 'accelerations', 'effort')
        rows.append(
            SimpleNamespace(time_from_start=stamp, **dict(zip(names, fields, strict=True)))
        )
    return SimpleNamespace(joint_names=list(joints), points=rows)


def test_message_is_taken_over():
    points = TrajectoryPoints.from_message(
        message((0.25, [1, 2], [3, 4]), (1.5, [5, 6], [], [], [7, 8]))
    )
    np.testing.assert_allclose(points.time, [0.25, 1.5])
    np.testing.assert_allclose(points.position, [[1, 2], [5, 6]])
    np.testing.assert_allclose(points.velocity, [[3, 4], [np.nan, np.nan]])
    assert points.acceleration is None
    np.testing.assert_allclose(points.effort, [[np.nan, np.nan], [7, 8]])


def test_message_with_wrong_lengths_is_refused():
    with pytest.raises(MotionError, match=r'positions of point 1 must have 2 values.*got 0'):
        TrajectoryPoints.from_message(message((0, [1, 2]), (1, [])))
    with pytest.raises(MotionError, match=r'velocities of point 0 must have 2 values.*got 1'):
        TrajectoryPoints.from_message(message((0, [1, 2], [1])))
    with pytest.raises(MotionError, match='at least one point'):
        TrajectoryPoints.from_message(message())
