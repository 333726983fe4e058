# SPDX-License-Identifier: Apache-2.0
"""Collisions before the excitation node moves: what is refused, and with which sentence."""

import numpy as np
import pytest
from idle_nodes import idle_nodes
from robots import UR10
from scipy.optimize import brentq

from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.collisions.scene_shape import (
    SceneShape,
    Surroundings,
    pose_of,
)
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.plan import plan_excitation
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.nodes.excitation.collisions import CollisionGuard

pytestmark = pytest.mark.ros
MODEL = UrdfModel.from_file(UR10)
LIMITS = JointLimits.from_urdf(MODEL.urdf).with_default_acceleration()
GIVEN = {'floor': -0.5, 'box': [-2.0, -2.0, -2.0, 2.0, 2.0, 2.0]}
HOME = np.array([0.0, -1.5, 1.0, -1.0, 0.0, 0.0])
FOLDED = np.array([0.0, -1.5, 3.1, -1.0, 0.0, 0.0])
TURNED = np.array([0.5, -1.5, 1.0, -1.0, 0.0, 0.0])


class Options:
    """Stands for the designer."""

    def __init__(self, values):
        self.given = values

    def values(self):
        return self.given

    def model(self):
        return MODEL


@pytest.fixture
def guard():
    """Return a function that makes a guard of a node with these options and parameters."""
    with idle_nodes(1) as create:

        def guard(values, **parameters):
            node = create({'urdf': str(UR10), 'robot_description': '', **parameters})
            for name in ('urdf', 'robot_description'):
                node.declare_parameter(name, '')
            return CollisionGuard(node, LIMITS.joints, Options(dict(values)))

        yield guard


def plan(target, position=HOME, start=HOME):
    motion = PointToPoint.within(LIMITS, start=start, target=target)
    return plan_excitation(motion, position, LIMITS)


def test_what_nobody_checks_needs_to_be_allowed(guard):
    with pytest.raises(ControlError) as caught:
        guard({}).check_allowed()
    for words in ('NOT checked', 'a floor', 'around the robot', 'set allow_unchecked: true'):
        assert words in str(caught.value)
    guard({}, allow_unchecked=True).check_plan(plan(TURNED))
    all_checked = guard(GIVEN)
    all_checked.check_allowed()
    all_checked.check_plan(plan(TURNED))


def test_the_text_of_the_urdf_will_do(guard):
    text = UR10.read_text()
    guard(GIVEN, urdf='', robot_description=text).check_plan(plan(TURNED))
    with pytest.raises(ControlError, match='collide'):
        guard(GIVEN, urdf='', robot_description=text).check_plan(plan(FOLDED))


def test_shapes_that_ros_does_not_read_are_checked_or_need_to_be_allowed(guard):
    text = UR10.read_text()
    capsules = guard(GIVEN, urdf='', robot_description=text.replace('<cylinder', '<capsule'))
    with pytest.raises(ControlError, match=r'the motion collides: .* mm deep, at t = '):
        capsules.check_plan(plan(FOLDED))
    given = {'urdf': '', 'robot_description': text.replace('<cylinder', '<cone')}
    for call in (CollisionGuard.check_allowed, lambda it: it.check_plan(plan(TURNED))):
        with pytest.raises(ControlError) as caught:
            call(guard(GIVEN, **given))
        assert 'NOT checked for collisions: geometry that cannot be read: ' in str(caught.value)
        assert "link 'forearm_link', <collision>: expected one <geometry>" in str(caught.value)
        call(guard(GIVEN, allow_unchecked=True, **given))


def test_a_motion_that_collides_is_refused_even_if_unchecked_ones_are_allowed(guard):
    for values in ({}, GIVEN):
        with pytest.raises(ControlError, match=r'the motion collides: .* mm deep, at t = '):
            guard(values, allow_unchecked=True).check_plan(plan(FOLDED))


def test_the_move_to_the_start_is_part_of_it(guard):
    refused = 'from the position of the robot to the start of the motion collides'
    with pytest.raises(ControlError, match=refused):
        guard(GIVEN).check_plan(plan(TURNED, position=FOLDED))
    guard({**GIVEN, 'self_collision': False}, allow_unchecked=True).check_plan(
        plan(TURNED, position=FOLDED)
    )


def test_a_floor_for_links_and_for_frames(guard):
    for frames in ({}, {'frames': ['wrist_3_link']}):
        high = guard({**GIVEN, 'floor': 1.4, **frames}, allow_unchecked=True)
        with pytest.raises(ControlError, match=r'floor at z = 1\.4 m|frame .wrist_3_link. is at'):
            high.check_plan(plan(TURNED))


class Camera:
    """Stands for a running MoveIt: a post beside the robot, at one place after the other."""

    def __init__(self, *places):
        self.places, self.asked = list(places), 0

    def ask(self):
        self.asked += 1
        x = self.places.pop(0)
        pose = pose_of((x, 0.0, 0.5), (0.0, 0.0, 0.0, 1.0))
        return Surroundings(
            (SceneShape('post', 'cylinder', np.array([0.05, 3.0]), pose, 'base_link'),)
        )


def seen(guard, *places, **parameters):
    """Let a guard check a plan while the post moves; return it and the plan."""
    given = guard(GIVEN, **parameters)
    given._running = Camera(*places)
    given.look()
    turned = plan(TURNED)
    given.check_plan(turned)
    return given, turned.trajectory


def place_at(guard, distance):
    """Return x of the post, in [m], where the motion comes this near to it."""
    grid = plan(TURNED).trajectory.grid(0.01).position

    def distance_at(place):
        given = guard(GIVEN)
        given._running = Camera(place)
        given.look()
        geometry = given._coverage().rule.geometry
        posts = [i for i, pair in enumerate(geometry.pairs) if 'post' in pair[1]]
        return min(geometry.distance(pair, row) for pair in posts for row in grid)

    return brentq(lambda place: distance_at(place) - distance, 0.6, 1.2, xtol=1e-5)


def test_a_scene_that_jitters_stops_no_motion_that_keeps_the_clearance(guard):
    for place in (1.2, place_at(guard, 0.0075)):  # needed are 1 mm and twice the 3 mm
        given, motion = seen(guard, place, place + 0.003, place - 0.002)
        given.look_again(motion)
        assert given._running.asked == 3
        still, motion = seen(guard, place, place)
        still.look_again(motion)
        assert still._running.asked == 2


def test_a_scene_that_comes_too_near_stops_the_motion(guard):
    near = place_at(guard, 0.0065)
    given, motion = seen(guard, near, near + 0.003)
    words = r'a shape moved by 3\.0 mm, and .* and shape 1 of .*, post are 6\.[45] mm apart'
    with pytest.raises(ControlError, match=words):
        given.look_again(motion)
    steps = near + np.array([0.2, 0.195, 0.18, 0.15, 0.08])  # it walks
    walking, motion = seen(guard, *steps)
    with pytest.raises(ControlError, match='clearance of 1 mm and twice the movement: start'):
        walking.look_again(motion)
    gone, motion = seen(guard, near + 0.2)
    gone._running.ask = Surroundings
    with pytest.raises(ControlError, match='changed while the motion was checked: start again'):
        gone.look_again(motion)
