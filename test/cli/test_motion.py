# SPDX-License-Identifier: Apache-2.0
"""`robodyn motion`: a path of an arm and moves of a DELTA, checked and drawn."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from robodyn_ros.cli.main import main
from robodyn_ros.excitation.catalog import load_motion

ROOT = Path(__file__).resolve().parents[2]
URDF = ROOT / 'urdf' / 'ur10.urdf'
ARM = ['--robot', str(ROOT / 'config' / 'robots' / 'ur10.yaml')]
JOINTS = ['shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
          'wrist_2_joint', 'wrist_3_joint']  # fmt: skip
PATH = {'kind': 'tool_moves', 'joints': JOINTS, 'robot': {'urdf': str(URDF), 'link': 'tool0'},
        'near': [0.4, -1.4, 1.6, -0.9, 1.0, 0.6], 'speed': 0.1, 'acceleration': 1.0, 'jerk': 30.0,
        'moves': [{'target': [0.6, 0.3, 0.3]}]}  # fmt: skip
DELTA = {'kind': 'joint_moves', 'joints': ['joint4', 'joint1', 'joint2', 'joint3'],
         'points': [[0.0] * 4, [1.0, 0.3, 0.4, 0.5]], 'durations': [2.0]}  # fmt: skip


@pytest.fixture
def shown(tmp_path, capsys):
    """Return a function that writes a motion and returns exit code, output and the folder."""

    def shown(motion, *options):
        file = tmp_path / 'motion.yaml'
        file.write_text(yaml.safe_dump(motion))
        code = main(['motion', str(file), *options])
        return code, capsys.readouterr()

    return shown


def test_a_path_is_checked_and_drawn(shown, tmp_path):
    folder = tmp_path / 'drawn'
    code, printed = shown(PATH, *ARM, '--out', str(folder), '--json')
    facts = json.loads(printed.out)
    assert code == 0 and facts['kind'] == 'tool_moves' and facts['broken'] == ''
    motion = load_motion(tmp_path / 'motion.yaml')
    assert facts['duration'] == pytest.approx(motion.duration)
    assert [joint['name'] for joint in facts['joints']] == JOINTS
    limits = yaml.safe_load(Path(ARM[1]).read_text())['limits']
    peak = np.abs(motion.grid(1e-3).acceleration).max(axis=0)
    for joint, value in zip(facts['joints'], peak, strict=True):
        bound = limits[joint['name']]['max_acceleration']
        assert joint['acceleration'] == pytest.approx(value / bound, rel=0.02)
    assert sorted(path.name for path in folder.iterdir()) == [
        'joints.png', 'motion.html', 'path.png', 'trajectory.csv', 'trajectory.yaml'
    ]  # fmt: skip
    again = load_motion(folder / 'trajectory.yaml')
    np.testing.assert_allclose(again.grid(0.1).position, motion.grid(0.1).position, atol=1e-9)


def test_what_breaks_a_limit_is_said_and_is_no_success(shown):
    code, printed = shown({**PATH, 'speed': 4.0, 'acceleration': 60.0}, *ARM)
    assert code == 1 and 'the motion breaks a limit: joint' in printed.out
    code, printed = shown(PATH, *ARM)
    assert code == 0 and 'the joint limits are kept' in printed.out
    assert 'all limits are kept' not in printed.out
    assert 'NOT checked: a floor' in printed.out and 'collisions during 0.00%' in printed.out
    around = ['--floor', '-0.5', '--box', '-2', '-2', '-2', '2', '2', '2']
    code, printed = shown(PATH, *ARM, *around)
    assert code == 0 and 'all limits are kept, and there is no collision' in printed.out
    assert f'tool_moves, {float(printed.out.split()[1]):.3f} s' in printed.out


def test_a_collision_is_no_success(shown):
    home = [0.0, -1.5, 1.0, -1.0, 0.0, 0.0]
    folded = [0.0, -1.5, 3.1, -1.0, 0.0, 0.0]
    motion = {'kind': 'move', 'joints': JOINTS, 'start': home, 'target': folded, 'duration': 9.0}
    code, printed = shown(motion, *ARM, '--json')
    facts = json.loads(printed.out)
    assert code == 1 and 'collide' in facts['broken'] and facts['collision']['share'] > 0.1
    assert facts['collision']['smallest_distance'] < -0.01
    code, printed = shown(motion, *ARM, '--no-self-collision')
    assert code == 0 and 'NOT checked: self-collision: it is switched off' in printed.out


def test_a_motion_of_other_joints_is_refused(shown):
    code, printed = shown({**DELTA, 'joints': ['a', 'b', 'c', 'd']}, *ARM)
    assert code == 2 and "the motion moves joint 'a', which is not one of" in printed.err


def test_the_surroundings_in_the_robot_file_hold_for_every_motion(shown, tmp_path):
    robot = yaml.safe_load(Path(ARM[1]).read_text())
    robot['urdf'] = str(URDF)
    surroundings = {'floor': -2.0, 'obstacles': [0.5, 0.2, 0.2, 0.7, 0.4, 0.4]}
    robot['excitation'] = {'optimise': surroundings}
    file = tmp_path / 'robot.yaml'
    file.write_text(yaml.safe_dump(robot))
    code, printed = shown(PATH, '--robot', str(file), '--json')
    facts = json.loads(printed.out)
    assert code == 1 and 'obstacle 1 at (0.6, 0.3, 0.3) m' in facts['broken']
    assert facts['not_checked'] == [
        'what else stands around the robot (option box; obstacles are in it)'
    ]
    code, printed = shown(PATH, '--robot', str(file), '--obstacles', '5,5,5,6,6,6', '--json')
    assert code == 0 and json.loads(printed.out)['broken'] == ''
