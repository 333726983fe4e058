# SPDX-License-Identifier: Apache-2.0
"""Lines and circles of the tool."""

from pathlib import Path

import numpy as np
import pytest
from motions import assert_derivatives, assert_rest_at_ends
from scipy.spatial.transform import Rotation

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.excitation.motions.tool_moves import ToolMove, ToolMoves
from robodyn_ros.models.kinematics import build_kinematics
from robodyn_ros.models.serial.serial_kinematics import SerialKinematics
from robodyn_ros.models.serial.urdf import UrdfModel

URDF = Path(__file__).parents[3] / 'urdf'
NAMES = tuple('abcdefg')
SCARA = build_kinematics(
    {'kind': 'scara', 'axes': 4, 'geometry': {'L1': 0.35, 'L2': 0.3, 's4': -1.0}}
)
DELTA = build_kinematics(
    {
        'kind': 'delta',
        'axes': 3,
        'geometry': {'R_b': 0.2, 'r_p': 0.045, 'L_AB': 0.35, 'L_BC': 0.8},
    }
)
POSITIONS = {
    'ur10': np.array([0.4, -1.4, 1.6, -0.9, 1.0, 0.6]),
    'lwr4': np.array([0.4, 0.5, 0.7, 0.9, 0.8, 0.6, 0.5]),
}


def serial(name):
    return SerialKinematics(UrdfModel.from_file(URDF / f'{name}.urdf'))


def case(kind):
    """A line, an arc that leaves it without a corner, and a line around a corner."""
    names = NAMES
    if kind in POSITIONS:
        body = UrdfModel.from_file(URDF / f'{kind}.urdf')
        robot, near, names = SerialKinematics(body), POSITIONS[kind], body.joint_names
        start = robot.forward(near[None])[0]
    else:
        robot, near = {'scara': SCARA, 'delta': DELTA}[kind], None
        start = {'scara': np.array([0.3, -0.1, 0.02, 0.5]), 'delta': np.array([0.0, 0, -0.7])}[
            kind
        ]
    end = np.array(start)
    end[:3] += [0.0, 0.1, 0.0]
    there = np.array(end)
    there[:3] += [0.05, 0.05, 0.0]
    if robot.rotates:
        turn = Rotation.from_rotvec([0.2, -0.1, 0.3]) * Rotation.from_quat(start[3:7])
        there[3:7] = turn.as_quat()
    there[7 if robot.rotates else 3 :] += 0.2
    bend = end[:3] + 0.05 * np.array([1.0 - np.sqrt(0.5), np.sqrt(0.5), 0.0])
    last = there[:3] - np.array([0.0, 0.0, 0.08])
    return {
        'joints': names[: robot.axes],
        'robot': robot,
        'start': start.tolist(),
        'moves': [
            ToolMove(tuple(end[:3])),
            ToolMove(tuple(there), through=tuple(bend)),
            ToolMove(tuple(last)),
        ],
        'speed': 0.2,
        'acceleration': 2.0,
        'jerk': 60.0,
        'near': near,
    }


@pytest.mark.parametrize('kind', ['scara', 'delta', 'ur10'])
def test_path_speed_and_stops(kind):
    given = case(kind)
    robot = given['robot']
    motion = ToolMoves(**given)
    assert_rest_at_ends(motion)
    assert_derivatives(motion)
    time = np.linspace(0.0, motion.duration, 1501)
    poses = robot.forward(motion.sample(time).position)
    places = poses[:, :3] - given['start'][:3]
    first, second, third = (
        (time >= begin) & (time <= end)
        for begin, end in zip(motion.schedule.begins, motion.schedule.ends, strict=True)
    )
    np.testing.assert_allclose(places[first][:, [0, 2]], 0.0, atol=1e-9)
    centre = np.array([0.05, 0.1, 0.0])
    radius = np.linalg.norm(places[second] - centre, axis=1)
    np.testing.assert_allclose(radius, 0.05, atol=1e-9)
    np.testing.assert_allclose(places[third][:, :2], [[0.05, 0.15]] * third.sum(), atol=1e-9)
    speed = np.linalg.norm(np.gradient(poses[:, :3], time, axis=0), axis=1)
    assert speed.max() == pytest.approx(0.2, rel=1e-3)
    stops = motion.sample(motion.schedule.ends[:2])
    np.testing.assert_allclose(stops.velocity, 0.0, atol=1e-9)
    if robot.rotates:
        before = Rotation.from_quat(given['start'][3:7])
        turned = (Rotation.from_quat(poses[:, 3:7]) * before.inv()).as_rotvec()
        np.testing.assert_allclose(turned[first], 0.0, atol=1e-8)
        np.testing.assert_allclose(turned[third], [[0.2, -0.1, 0.3]] * third.sum(), atol=1e-8)


@pytest.mark.parametrize('kind', ['scara', 'delta', 'lwr4'])
def test_with_fly_by_the_speed_stays_where_there_is_no_corner(kind):
    given = case(kind)
    motion = ToolMoves(**given, fly_by=[1.0, 0.6])
    assert_derivatives(motion)
    assert_rest_at_ends(motion)
    corner = motion.schedule.ends[0] - 0.5 * motion.schedule.profiles[0].ramp_time
    time = corner + np.linspace(-0.3, 0.3, 601) * motion.schedule.profiles[0].ramp_time
    speed = np.linalg.norm(motion.poses(time)[1][:, :3], axis=1)
    assert speed.min() > 0.99 * 0.2 and speed.max() < 0.2 * (1 + 1e-9)
    assert motion.duration < ToolMoves(**given).duration
    end = given['robot'].forward(motion.sample(np.array([motion.duration])).position)[0]
    np.testing.assert_allclose(end[:3], given['moves'][2].target, atol=1e-9)
    back = build_motion(motion.describe())
    one, other = motion.grid(0.01), back.grid(0.01)
    np.testing.assert_allclose(other.position, one.position, atol=1e-9)


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'start': None}, 'needs start or near'),
        ({'start': [0.3, 0.0]}, 'start must have 4 finite values'),
        ({'moves': [ToolMove((0.3, -0.1, 0.02))]}, 'move 1: it needs a target at another place'),
        (
            {'moves': [ToolMove((0.3, 0.1, 0.02), through=(0.3, 0.0, 0.02))]},
            'move 1: a circle needs three places that are not on one line',
        ),
        ({'moves': [ToolMove((0.3, 0.1))]}, 'target must have 3 or 4 finite values'),
        ({'moves': [ToolMove((0.9, 0.1, 0.0))]}, 'the path cannot be followed: a scara'),
        ({'moves': [ToolMove((0.3, 0.1, 0.0), speed=-1)]}, 'max_velocity of a speed prof'),
        ({'joints': NAMES[:3]}, 'a robot with 4 axes needs as many joints'),
        ({'near': [0.0]}, 'near must have 4 values'),
    ],
)
def test_refuses_with_one_sentence(change, words):
    with pytest.raises(MotionError, match=words):
        ToolMoves(**{**case('scara'), **change})


def wrist_turning_over(aside):
    """A line on which the fifth joint of the arm passes zero, or nearly."""
    robot, near = serial('ur10'), np.array([0.3, -1.4, 1.6, -0.9, 0.3, 0.2])
    over = near * [1.0, 1.0, 1.0, 1.0, -1.0, 1.0] + [0.0, 0.0, 0.0, aside, 0.0, -aside]
    target = robot.forward(over[None])[0]
    target[2] += 0.1
    return ToolMoves(
        joints=NAMES[:6], robot=robot, near=near, moves=[ToolMove(tuple(target))],
        speed=0.1, acceleration=1.0,
    )  # fmt: skip


def test_refuses_a_line_through_a_singular_position_or_too_near_to_one():
    with pytest.raises(MotionError, match='cannot be followed: a serial arm is singular at'):
        wrist_turning_over(0.0)
    with pytest.raises(MotionError, match='passes too near to a singular position: joint'):
        wrist_turning_over(0.003)
