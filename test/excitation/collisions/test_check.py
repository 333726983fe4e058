# SPDX-License-Identifier: Apache-2.0
"""Collision check: what it covers, and what it reports; MuJoCo is the oracle."""

import json
from pathlib import Path

import numpy as np
import pytest
from mujoco_collisions import MujocoCollisions
from robots import LWR4, SIX_AXIS, UR10

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.catalog import build_motion, load_motion
from robodyn_ros.excitation.collisions.check import collision_lines
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.options import collision_coverage
from robodyn_ros.excitation.plan import plan_excitation
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.robot_file import load_robot

ROOT = Path(__file__).resolve().parents[3]
NS16 = ROOT / 'urdf' / 'ns16.urdf'
EMPTY = """<robot name="r"><link name="base"/><link name="arm"/><joint name="joint1"
type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
"""A robot of frames only."""
BALL = '<visual><geometry><sphere radius="1"/></geometry></visual>'
HIDDEN = f"""<robot name="r"><link name="base">{BALL}</link><link name="arm">{BALL}</link>
<link name="tip"/><link name="hand">{BALL}</link>
<joint name="joint1" type="continuous"><parent link="base"/>
<child link="arm"/></joint><joint name="joint2" type="continuous"><parent link="arm"/>
<child link="tip"/></joint><joint name="joint3" type="continuous"><parent link="tip"/>
<child link="hand"/></joint></robot>"""
"""A robot whose visual shapes overlap in every position."""
ARMS = {'ur10': UR10, 'lwr4': LWR4, 'ns16': NS16, 'six_axis': SIX_AXIS}
JOINTS = UrdfModel.from_file(UR10).joint_names


def wandering(joints, seed=3, seconds=4.0):
    """A motion through random positions, colliding now and then."""
    random = np.random.default_rng(seed)
    points = np.cumsum(random.normal(0.0, 0.6, (9, len(joints))), axis=0)
    time = np.linspace(0.0, seconds, len(points))
    return SplineTrajectory(points=TrajectoryPoints(tuple(joints), time, points))


@pytest.mark.parametrize('robot', ARMS)
def test_share_and_depth_are_those_of_mujoco(robot):
    joints = UrdfModel.from_file(ARMS[robot]).joint_names
    motion = wandering(joints)
    report = collision_coverage({'clearance': 0.0}, joints, str(ARMS[robot])).check(motion)
    count = 4001
    grid = motion.sample(np.linspace(0.0, motion.duration, count))
    depths = MujocoCollisions(ARMS[robot], joints).depths(grid.position)
    (line,) = collision_lines(report.facts())[:1]
    assert line.startswith(f'collisions during {report.contacts.share:.2%} of the time')
    assert all(name in line for name in report.contacts.pair)
    # the two disagree only where links just touch
    assert report.contacts.share == pytest.approx((depths > 0.0).mean(), abs=5.0 / count)
    if depths.max() > 0.0:
        # MuJoCo tells how deep single points of the contact are, which is less
        assert -0.2 < report.contacts.distance <= -depths.max() + 1e-6
        assert report.broken.startswith('the motion collides: ')
    else:
        assert report.contacts.distance > 0.0 and not report.broken


def test_it_is_said_what_is_not_checked():
    bare = collision_coverage({}, ['joint1'], EMPTY)
    assert [text.split(':')[0] for text in bare.unchecked] == [
        'self-collision', 'a floor (option floor)',
        'what stands around the robot (option box; obstacles are in it)',
    ]  # fmt: skip
    assert 'no <collision> and no <visual>' in bare.unchecked[0] and not bare.limits
    facts = bare.check(wandering(['joint1'])).facts()
    assert facts['collision'] == {'checked': False}
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert sum(line.startswith('NOT checked: ') for line in collision_lines(facts)) == 3
    shown = collision_coverage({}, ['joint1', 'joint2', 'joint3'], HIDDEN)
    assert shown.unchecked[0] == (
        'pairs whose visual shapes or capsules touch in every position: base and hand'
    )
    assert shown.notes == (
        'links without <collision> are checked by their visual shapes: base, arm, hand',
    )
    full = {'floor': -0.2, 'box': [-2, -2, -1, 2, 2, 2]}
    assert collision_coverage(full, JOINTS, str(UR10)).unchecked == ()
    off = collision_coverage({**full, 'self_collision': False}, JOINTS, str(UR10))
    assert off.unchecked == ('self-collision: it is switched off',)
    assert off.rule.geometry.pairs and all(off.rule.geometry.at_walls)
    assert collision_coverage({}, JOINTS, '').unchecked[0] == 'self-collision: there is no URDF'
    some = collision_coverage({}, JOINTS[:5], str(UR10))
    assert 'joints that do not move, taken to be at 0: wrist_3_joint' in some.unchecked
    axis = collision_coverage({}, ['joint1'], str(ROOT / 'urdf' / 'single_axis.urdf'))
    assert axis.notes == ('no two links could collide: a joint joins them',)


def test_a_floor_is_one_for_the_links_and_not_only_for_their_frames():
    still = np.array([0.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    motion = SplineTrajectory(
        points=TrajectoryPoints(JOINTS, np.array([0.0, 1.0]), np.array([still, still]))
    )
    # the forearm is a cylinder, its lowest point is below its axis by the radius times a cosine
    low = collision_coverage({'floor': -0.1}, JOINTS, str(UR10)).check(motion)
    assert low.contacts.share == 1.0 and low.contacts.distance == pytest.approx(-0.4870, abs=1e-4)
    assert low.contacts.pair == ('wrist_3_link', 'the floor at z = -0.1 m')
    beside = {'floor': -2.0, 'obstacles': [0.7, -1, -0.6, 0.9, 1, -0.1, 5, 5, 5, 6, 6, 6]}
    full = collision_coverage(beside, JOINTS, str(UR10))
    hit = full.check(motion)
    assert full.unchecked == (
        'what else stands around the robot (option box; obstacles are in it)',
    )
    assert hit.contacts.share == 1.0
    inside = {**beside, 'box': [-3, -3, -3, 3, 3, 3]}
    assert collision_coverage(inside, JOINTS, str(UR10)).unchecked == ()
    assert 'obstacle 1 at (0.8, 0, -0.35) m' in hit.contacts.pair
    clear = collision_coverage({'obstacles': [5, 5, 5, 6, 6, 6]}, JOINTS, str(UR10)).check(motion)
    assert not clear.broken and clear.contacts.share == 0.0
    wall = collision_coverage({'box': [-3, -3, -3, 1.0, 3, 3]}, JOINTS, str(UR10)).check(motion)
    assert 'the wall at x = 1 m' in wall.contacts.pair
    model = UrdfModel.from_file(UR10)
    framed = collision_coverage({'floor': -0.4, 'frames': ['forearm_link']}, JOINTS, str(UR10))
    assert not framed.check(motion, model).broken
    framed = collision_coverage({'floor': -0.1, 'frames': ['forearm_link']}, JOINTS, str(UR10))
    assert "frame 'forearm_link' is at z = " in framed.check(motion, model).broken


@pytest.mark.parametrize(
    ('values', 'urdf', 'words'),
    [
        ({'self_collision': True}, '', 'needs the URDF file'),
        ({'self_collision': True}, EMPTY, 'no two links with collision geometry'),
        ({'floor': 0.0}, EMPTY, 'box and floor need frames'),
        ({'obstacles': [0, 0, 0, 1, 1, 1]}, EMPTY, 'obstacles and scene need link geometry'),
        ({'box': [-1e3, -1e3, 0, 1e3, 1e3, 2e3]}, 'ur10', 'is it in mm'),
        ({'floor': -800.0, 'frames': ['wrist_3_link']}, 'ur10', 'coordinate 800 m'),
        ({'srdf': '/nowhere.srdf'}, 'ur10', 'the SRDF /nowhere.srdf cannot be read'),
    ],
)
def test_what_cannot_be_checked_but_is_asked_for_is_refused(values, urdf, words):
    path = str(UR10) if urdf == 'ur10' else urdf
    joints = JOINTS if urdf == 'ur10' else ['joint1']
    with pytest.raises(MotionError, match=words):
        collision_coverage(values, joints, path)


@pytest.mark.parametrize('robot', ARMS)
def test_shipped_motions_do_not_collide_from_where_the_cell_begins(robot):
    limits = JointLimits.from_urdf(read_urdf(ARMS[robot]))
    file = load_robot(ROOT / 'config' / 'robots' / f'{robot}.yaml')
    limits = load_limits(file.path, limits)
    given = file.content['excitation']['motion']
    motions = [build_motion({'joints': list(limits.joints), **given})]
    motions += [load_motion(path) for path in (ROOT / 'config/motions').glob(f'{robot}_[tv]*')]
    cell = file.content['cell']['joints']
    home = np.array([cell[name].get('initial_position', 0.0) for name in limits.joints])
    coverage = collision_coverage({}, limits.joints, str(ARMS[robot]))
    for motion in motions:
        order = [limits.joints.index(name) for name in motion.joints]
        plan = plan_excitation(motion, home[order], limits, pause=0.5)
        assert coverage.check(plan.trajectory).broken == ''
        depths = MujocoCollisions(ARMS[robot], motion.joints).depths
        assert depths(plan.trajectory.grid(0.02).position).max() == 0.0
