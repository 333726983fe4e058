# SPDX-License-Identifier: Apache-2.0
"""Motions from descriptions, and back."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from motions import JOINTS, random_fourier, random_sine

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.catalog import KINDS, build_motion, load_motion, write_motion
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion
from robodyn_ros.excitation.motions.joint_moves import JointMoves
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.motions.sinesum import SineSumMotion
from robodyn_ros.excitation.motions.spline import SplineTrajectory
from robodyn_ros.excitation.motions.tool_moves import ToolMove, ToolMoves
from robodyn_ros.excitation.plan import points_of
from robodyn_ros.excitation.trajectory import Chain
from robodyn_ros.models.serial.urdf_file import read_urdf

URDF = Path(__file__).parents[2] / 'urdf'
SCARA = {'kind': 'scara', 'axes': 3, 'geometry': {'L1': 0.35, 'L2': 0.25}}
MOTIONS = {
    'sine': random_sine(1),
    'sine_sum': SineSumMotion(
        joints=JOINTS,
        center=[0.1, -0.2, 0.3],
        amplitude=[[0.3, 0.1], [0.2, -0.4], [0.5, 0.0]],
        frequency=[[0.3, 0.7], [0.41, 0.2], [0.5, 0.13]],
        duration=6.0,
    ),
    'fourier': random_fourier(2),
    'move': PointToPoint(joints=JOINTS, start=[0.0] * 3, target=[1.0, 2.0, 3.0], duration=2.0),
    'joint_moves': JointMoves(
        joints=JOINTS,
        points=[[0.0, 0.1, 0.2], [1.0, -0.5, 0.3], [0.2, 0.2, 0.9]],
        durations=[1.2, 0.8],
        ramp=[0.3, 0.5],
        rise=0.4,
        fly_by=0.7,
    ),
    'tool_moves': ToolMoves(
        joints=JOINTS,
        robot=SCARA,
        start=[0.3, 0.2, 0.0],
        moves=[
            ToolMove((0.4, 0.2, 0.1), through=(0.35, 0.25, 0.05)),
            ToolMove((0.3, 0.3, 0.1), speed=0.3),
        ],
        speed=0.4,
        acceleration=3.0,
        fly_by=0.5,
        near=[0.0, -1.0, 0.0],
    ),
    'bidirectional': BidirectionalMotion(
        joints=JOINTS,
        start=[0.0, 0.1, 0.2],
        target=[0.5, -0.4, 0.2],
        speeds=[0.3, 1.0],
        max_velocity=[1.0, 0.5, 1.0],
        max_acceleration=[5.0, 4.0, 3.0],
    ),
    'points': SplineTrajectory(points=points_of(random_sine(4), 0.5)),
}
MOTIONS['chain'] = Chain(
    parts=[
        PointToPoint(joints=JOINTS, start=[0.0] * 3, target=MOTIONS['sine'].start, duration=1.0),
        MOTIONS['sine'],
    ]
)


@pytest.mark.parametrize('kind', KINDS)
def test_file_gives_the_same_motion_back(kind, tmp_path):
    motion = MOTIONS[kind]
    write_motion(motion, tmp_path / 'motion.yaml')
    back = load_motion(tmp_path / 'motion.yaml')
    assert type(back) is type(motion) and back.joints == motion.joints
    assert back.duration == pytest.approx(motion.duration, abs=1e-12)
    one, other = motion.grid(0.01), back.grid(0.01)
    for name in ('position', 'velocity', 'acceleration'):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), atol=1e-9)
    assert [path.name for path in tmp_path.iterdir()] == ['motion.yaml']


PATH = {'kind': 'tool_moves', 'joints': list(JOINTS), 'robot': SCARA, 'start': [0.3, 0.2, 0.0],
        'moves': [{'target': [0.3, 0.3, 0.0]}], 'speed': 1.0, 'acceleration': 5.0}  # fmt: skip
MOVES = {'kind': 'joint_moves', 'joints': ['a', 'b'], 'points': [[0, 0], [1, 1], [0, 2]]}
SINE = {'kind': 'sine', 'joints': ['a'], 'start': [0], 'target': [1], 'frequency': [1]}


@pytest.mark.parametrize(
    ('description', 'sentence'),
    [
        ('text', "must be a mapping, got str"),
        ({'kind': 'sinus'}, "no motion kind 'sinus', there are: sine, fourier, move, joint_moves"),
        (SINE, "a motion of kind sine needs 'duration'"),
        ({**SINE, 'duration': 5, 'amplitude': 1}, "kind sine has no 'amplitude', it has: kind,"),
        ({**SINE, 'duration': True}, 'kind sine: duration must be a finite number, got True'),
        ({**SINE, 'duration': 5, 'start': {'a': 1}}, 'start must be a finite number or a list'),
        ({'kind': 'chain', 'parts': []}, 'at least one part'),
        ({'kind': 'chain', 'parts': [{'kind': 'x'}]}, "no motion kind 'x'"),
        (
            {'kind': 'points', 'joints': ['a'], 'time': [0, 1], 'position': [[0], [1, 2]]},
            'must be rows of numbers',
        ),
        (MOVES, 'need durations .and ramp., or velocity and acceleration'),
        ({**MOVES, 'durations': [1, 1], 'speed': 0.5}, 'durations or limits, both are given'),
        ({**MOVES, 'velocity': 1, 'acceleration': [1]}, 'acceleration must have 2 values'),
        ({**PATH, 'moves': []}, 'a path of the tool needs at least one move'),
        ({**PATH, 'moves': [{'to': [1]}]}, r'moves\[0\]: entry .target. is missing'),
        ({**PATH, 'robot': 'scara'}, 'robot must be a mapping of names to values'),
        ({**PATH, 'robot': {'kind': 'scara'}}, 'robot of a path: kinematics need kind, axes'),
    ],
)  # fmt: skip
def test_mistakes_are_named(description, sentence, tmp_path):
    with pytest.raises(MotionError, match=sentence):
        build_motion(description)
    path = tmp_path / 'm.yaml'
    path.write_text(yaml.safe_dump(description))
    with pytest.raises(MotionError, match=f'm.yaml: .*{sentence}'):
        load_motion(path)


def test_file_that_is_none(tmp_path):
    with pytest.raises(MotionError, match='cannot be read'):
        load_motion(tmp_path / 'none.yaml')
    (tmp_path / 'bad.yaml').write_text('kind: [')
    with pytest.raises(MotionError, match='is no YAML'):
        load_motion(tmp_path / 'bad.yaml')
    with pytest.raises(MotionError, match='cannot be written'):
        write_motion(MOTIONS['sine'], tmp_path / 'no' / 'm.yaml')


def test_a_robot_of_a_file_is_found_from_the_motion_file(tmp_path):
    folder = tmp_path / 'motions'
    folder.mkdir()
    (tmp_path / 'arm.urdf').write_text((URDF / 'ur10.urdf').read_text())
    scara = {'kind': 'scara', 'dynamic_model': 1, 'joints': list(JOINTS),
             'geometry': SCARA['geometry']}  # fmt: skip
    (folder / 'scara.yaml').write_text(yaml.safe_dump(scara))
    near = [0.4, -1.4, 1.6, -0.9, 1.0, 0.6]
    names = [joint.name for joint in read_urdf(tmp_path / 'arm.urdf').joints if joint.axis.any()]
    arm = {'kind': 'tool_moves', 'joints': names[:6], 'near': near, 'speed': 0.1,
           'robot': {'urdf': '../arm.urdf', 'link': 'tool0'}, 'acceleration': 1.0,
           'moves': [{'target': [0.6, 0.3, 0.3]}]}  # fmt: skip
    file = folder / 'motion.yaml'
    for description in (arm, {**PATH, 'robot': {'model': 'scara.yaml'}}):
        file.write_text(yaml.safe_dump({'kind': 'chain', 'parts': [description]}))
        motion = load_motion(file)
        place = motion.parts[0].poses(np.array([motion.duration]))[0][0, :3]
        np.testing.assert_allclose(place, description['moves'][0]['target'], atol=1e-9)
        # what is written needs no file any more
        write_motion(motion, tmp_path / 'alone.yaml')
        assert '.urdf' not in (tmp_path / 'alone.yaml').read_text()
        back = load_motion(tmp_path / 'alone.yaml')
        np.testing.assert_allclose(back.grid(0.1).position, motion.grid(0.1).position, atol=1e-9)
    for robot, words in (
        ({'model': 'none.yaml'}, 'none.yaml'),
        ({'urdf': '../arm.urdf', 'model': 'scara.yaml'}, 'or urdf .and link, free., or model'),
        ({'urdf': '../arm.urdf'}, 'has no moving joint a'),
    ):
        file.write_text(yaml.safe_dump({**PATH, 'robot': robot}))
        with pytest.raises(MotionError, match=words):
            load_motion(file)
    mixed = {**PATH, 'joints': ['b', 'a', 'c'], 'robot': {'model': 'scara.yaml'}}
    file.write_text(yaml.safe_dump(mixed))
    with pytest.raises(MotionError, match='needed are'):
        load_motion(file)


def test_the_examples_of_the_documentation_are_motions(tmp_path):
    text = (URDF.parent / 'docs' / 'excitation.md').read_text()
    (tmp_path / 'urdf').symlink_to(URDF)
    (tmp_path / 'motions').mkdir()
    file, kinds = tmp_path / 'motions' / 'motion.yaml', []
    ur10 = JointLimits.from_urdf(read_urdf(URDF / 'ur10.urdf'))
    ur10 = load_limits(URDF.parent / 'config' / 'robots' / 'ur10.yaml', ur10)
    for block in re.findall(r'((?:^    .*\n)+)', text, re.MULTILINE):
        if block.startswith('    kind:'):
            file.write_text(block)
            motion = load_motion(file)
            kinds.append(motion.describe()['kind'])
            if kinds[-1] == 'tool_moves':
                check_motion(motion, ur10)
    assert kinds == ['joint_moves', 'tool_moves']


def test_numbers_that_no_robot_has_are_refused(tmp_path):
    path = tmp_path / 'far.yaml'
    write_motion(MOTIONS['move'], path)
    with pytest.raises(MotionError, match=r'samples of a motion .* got 3e\+15'):
        build_motion(MOTIONS['move'].describe() | {'duration': 1e12})
    far = yaml.safe_load(path.read_text()) | {'target': [0.0, 1e308, 0.0]}
    path.write_text(yaml.safe_dump(far))
    with pytest.raises(MotionError, match=r'far\.yaml: .*target\[1\] must be .*, got 1e\+308'):
        load_motion(path)
