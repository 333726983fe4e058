# SPDX-License-Identifier: Apache-2.0
"""Shapes of scenes: where they are, what carries them, and what cannot be placed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn_ros.bounds import GEOMETRY
from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.collisions.scene_shape import (
    NAME,
    SceneShape,
    Surroundings,
    pose_of,
)
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.options import collision_coverage

SOLID = '<collision>{}<geometry><sphere radius="0.1"/></geometry></collision>'
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
<origin xyz="{4}" rpy="{5}"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>"""
ROBOT = (
    '<robot name="r"><link name="base">'
    + SOLID.format('<origin xyz="0 0 2"/>')
    + '</link><link name="table"/><link name="arm"/><link name="ball">'
    + SOLID.format('')
    + '</link>'
    + JOINT.format('at', 'fixed', 'base', 'table', '0 1 1', '0 0 1.5707963267948966')
    + JOINT.format('joint1', 'revolute', 'base', 'arm', '0 0 0', '0 0 0')
    + JOINT.format('tip', 'fixed', 'arm', 'ball', '1 0 0', '0 0 0')
    + '</robot>'
)
"""A ball of radius 0.1 m that moves on a circle of radius 1 m around z, and one above the base."""
BALL = SceneShape('a', 'sphere', np.array([0.2]), np.eye(4), 'base')


def at(x, y, z):
    return pose_of((x, y, z), (0.0, 0.0, 0.0, 1.0))


def covered(*shapes, **options):
    return collision_coverage(options, ['joint1'], ROBOT, Surroundings(shapes))


def distances(*shapes, joint=0.0):
    """Names and distances of all pairs."""
    geometry = covered(*shapes).rule.geometry
    position = np.array([joint])
    return {pair: geometry.distance(i, position) for i, pair in enumerate(geometry.pairs)}


@pytest.mark.parametrize(
    ('size', 'pose', 'expected'),
    [
        ((1.0, 0.0, 0.0, -3.0), at(0, 0, 0), 1.9),  # x = 3
        ((1.0, 0.0, 0.0, 3.0), at(0, 0, 0), 3.9),  # x = -3: solid on neither side
        ((1.0, 1.0, 0.0, 0.0), at(0, 0, 0), np.sqrt(0.5) - 0.1),
        ((0.0, 0.0, 1.0, 0.0), pose_of((2, 0, 0), (0, np.sqrt(0.5), 0, np.sqrt(0.5))), 0.9),
    ],
)
def test_a_plane_is_that_of_its_equation_in_its_pose(size, pose, expected):
    (found,) = distances(SceneShape('a', 'plane', np.array(size), pose, 'base')).values()
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_shape_in_the_frame_of_a_fixed_link_is_there():
    ((pair, found),) = distances(replace(BALL, frame='table', pose=at(0, -3, -1))).items()
    assert pair == ('ball', f'shape 1 of {NAME}, a')
    assert found == pytest.approx(np.hypot(2.0, 1.0) - 0.3)  # at x = 3, y = 1, z = 0
    root = distances(replace(BALL, frame='base', pose=at(3, 1, 0))).values()
    assert list(root) == pytest.approx([found])


def test_a_quaternion_of_any_size_is_a_rotation():
    expected = pose_of((1, 2, 3), (0.1, -0.2, 0.3, 0.4))
    for size in (1e-150, 1.0, 1e307):
        found = pose_of((1, 2, 3), size * np.array([0.1, -0.2, 0.3, 0.4]))
        np.testing.assert_allclose(found, expected, atol=1e-15)
        np.testing.assert_allclose(found[:3, :3] @ found[:3, :3].T, np.eye(3), atol=1e-15)
    for zero in ((0, 0, 0, 0), (0, 0, 0, 1e-320)):
        with pytest.raises(ValueError, match='expected a quaternion that is not zero'):
            pose_of((1, 2, 3), zero)


@pytest.mark.parametrize(
    ('frame', 'words'),
    [
        ('map', "object 'a' is in the frame 'map', which is no link of the URDF"),
        ('', "object 'a' is in the frame '', which is no link"),
        ('ball', "object 'a' is in the frame 'ball', which moves with the robot; expected the ro"),
    ],
)
def test_a_frame_that_has_no_place_is_refused_with_its_object(frame, words):
    with pytest.raises(RobodynError, match=f'{NAME}: {words}'):
        covered(replace(BALL, frame=frame))
    with pytest.raises(RobodynError, match='scene need link geometry: give a URDF'):
        collision_coverage({}, ['joint1'], '', Surroundings((BALL,)))


def test_what_a_link_carries_moves_with_it():
    carried = replace(BALL, frame='ball', attached=True, pose=at(0.5, 0, 0))
    wall = SceneShape('wall', 'plane', np.array([0.0, 1.0, 0.0, -2.0]), np.eye(4), 'base')
    for joint, high in ((0.0, 0.0), (np.pi / 2, 1.5)):
        found = distances(carried, wall, joint=joint)
        name = f'attached shape 1 of {NAME}, a on ball'
        assert found[name, f'shape 2 of {NAME}, wall'] == pytest.approx(1.8 - high)
    # no link touches by design what its neighbour carries
    assert {('ball', f'shape 2 of {NAME}, wall'), (name, f'shape 2 of {NAME}, wall')} < set(found)
    assert all(name in pair for pair in set(found) - {('ball', f'shape 2 of {NAME}, wall')})
    itself = covered(carried, self_collision=None)
    assert all(name in pair for pair in itself.rule.geometry.pairs)
    framed = covered(carried, floor=-9.0, frames=['ball'])
    assert 'floor and box for what links carry: a' in framed.unchecked


def test_what_is_carried_collides_with_the_robot_unless_it_may_touch():
    """Link `far` is on a third joint, so that `arm` is no neighbour of it."""
    robot = ROBOT.replace('</robot>', '') + (
        f'<link name="middle">{SOLID.format("")}</link><link name="far">{SOLID.format("")}</link>'
        + JOINT.format('joint2', 'revolute', 'ball', 'middle', '1 0 0', '0 0 0')
        + JOINT.format('joint3', 'revolute', 'middle', 'far', '1 0 0', '0 0 0')
        + '</robot>'
    )
    joints = ['joint1', 'joint2', 'joint3']
    bar = SceneShape('bar', 'box', np.array([2.0, 0.1, 0.1]), at(-1, 0, 0.6), 'far', attached=True)
    points = np.array([[0.0, 0.0, 1.5], [0.0, 0.0, 0.0], [0.0, 0.0, 1.5]])
    time = np.array([0.0, 1.0, 2.0])
    motion = SplineTrajectory(points=TrajectoryPoints(tuple(joints), time, points))

    def report(shape):
        return collision_coverage({}, joints, robot, Surroundings((shape,))).check(motion)

    low = replace(bar, pose=at(-1, 0, 0))  # on `ball` where the arm is straight
    assert 'bar on far' not in report(bar).broken
    bar, low = (replace(each, touching=('middle',)) for each in (bar, low))
    found = f"'ball' and attached shape 1 of {NAME}, bar on far collide"
    assert found in report(low).broken
    assert 'bar on far' not in report(replace(low, touching=('middle', 'ball', 'base'))).broken
    off = collision_coverage(
        {'self_collision': False, 'floor': -9.0}, joints, robot, Surroundings((low,))
    )
    assert {pair[1] for pair in off.rule.geometry.pairs} == {'the floor at z = -9 m'}


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'kind': 'prism'}, "is a 'prism', expected box, sphere, cylinder, cone, plane or mesh"),
        ({'kind': 'box'}, r'is a box with the size \[0.2\], not of \(3,\)'),
        ({'size': np.array([0.0])}, r'has the size \[0\.\], not above 0'),
        ({'size': np.array([np.nan])}, 'has numbers that are not finite'),
        ({'pose': at(np.inf, 0, 0)}, 'has numbers that are not finite'),
        ({'pose': pose_of((0, 0, 0), (np.nan, 0, 0, 1))}, 'has numbers that are not finite'),
        ({'pose': at(2.0 * GEOMETRY.most, 0, 0)}, 'coordinates of collision geometry: at most'),
        ({'kind': 'mesh', 'size': np.zeros((0, 3))}, 'has a mesh that has no vertices'),
        ({'kind': 'plane', 'size': np.array([0.0, 0, 0, 1])}, 'has a plane without normal'),
        (
            {'kind': 'plane', 'size': np.array([0.0, 0, 1, 2])},
            'with d = 2, .* expected d = 0, and',
        ),
    ],
)
def test_numbers_that_cannot_be_used_are_refused(changes, words):
    assert BALL.check() is BALL
    with pytest.raises(RobodynError, match=f"{NAME}: object 'a'.*{words}"):
        replace(BALL, **changes).check()


def test_what_a_link_carries_is_named_if_no_geometry_could_touch_it():
    carried = replace(BALL, frame='ball', attached=True)
    bare = ROBOT.replace(SOLID.format(''), '').replace(SOLID.format('<origin xyz="0 0 2"/>'), '')
    text = f"object 'a' of {NAME}, attached to the link 'ball': there is no geometry that it"
    for urdf in ('', bare):
        coverage = collision_coverage({}, ['joint1'], urdf, Surroundings((carried,)))
        assert coverage.unchecked[-1].startswith(text)
    touching = replace(carried, touching=('ball', 'base'))
    assert covered(touching).unchecked[-1].startswith(text)
    for near in (covered(carried), covered(touching, floor=-9.0)):
        assert not any(text in each for each in near.unchecked)


def random_pose(random, place=1.0, turn=np.pi):
    pose = at(*random.uniform(-place, place, 3))
    pose[:3, :3] = Rotation.from_rotvec(random.uniform(-turn, turn, 3)).as_matrix()
    return pose


@pytest.mark.parametrize(
    ('kind', 'size'),
    [('sphere', [0.2]), ('box', [0.4, 0.2, 0.9]), ('cylinder', [0.3, 0.8]), ('cone', [0.3, 0.8]),
     ('mesh', np.random.default_rng(4).normal(size=(9, 3)))],
)  # fmt: skip
def test_no_distance_changes_by_more_than_a_shape_has_moved(kind, size):
    random = np.random.default_rng(3)
    first = SceneShape('a', kind, np.array(size), np.eye(4), 'base')
    largest = 0.0
    for _ in range(20):
        one = replace(first, pose=random_pose(random))
        shift = random_pose(random, 0.01, 0.02)
        grown = one.size * random.uniform(0.95, 1.05, one.size.shape[-1])
        other = replace(one, pose=one.pose @ shift, size=grown)
        moved = one.displacement(other)
        assert moved == pytest.approx(other.displacement(one))
        for joint in random.uniform(-3.0, 3.0, 5):
            near, far = (
                distances(item, joint=joint)['ball', f'shape 1 of {NAME}, a']
                for item in (one, other)
            )
            if min(near, far) > 0.0:
                largest = max(largest, abs(far - near) / moved)
    assert 0.3 < largest < 1.0 + 1e-4  # of the bound: none is above, and it is not far away


def test_moves_of_planes_and_of_what_is_another_shape():
    plane = SceneShape('p', 'plane', np.array([0.0, 0.0, 2.0, 0.0]), at(0, 0, 1), 'base')
    aside, higher = (replace(plane, pose=at(*place)) for place in ((5, 0, 1), (0, 0, 1.25)))
    assert plane.displacement(aside) == 0.0 and plane.displacement(higher) == pytest.approx(0.25)
    turned = replace(plane, pose=pose_of((0, 0, 1), (1e-9, 0.0, 0.0, 1.0)))
    assert plane.displacement(turned) == np.inf
    scene = Surroundings((BALL, BALL), ('gap',), ('note',))
    near = replace(BALL, pose=at(3e-3, 0, 4e-3), size=np.array([0.199]))
    ((first, still), (second, far)) = Surroundings((BALL, plane)).moves(
        Surroundings((near, plane))
    ).items()  # fmt: skip
    assert (first, second, far) == (BALL, plane, 0.0) and still == pytest.approx(6e-3)
    again = Surroundings((replace(BALL), replace(BALL)), ('gap',), ('note',))
    assert scene.same(again) and again.same(scene)
    for other in (
        Surroundings((BALL,), ('gap',), ('note',)),
        Surroundings((BALL, BALL), (), ('note',)),
        Surroundings((BALL, BALL), ('gap',), ()),
        Surroundings((BALL, replace(BALL, name='b')), ('gap',), ('note',)),
        Surroundings((BALL, replace(BALL, frame='arm')), ('gap',), ('note',)),
        Surroundings((BALL, replace(BALL, kind='mesh', size=np.eye(3))), ('gap',), ('note',)),
    ):
        assert scene.moves(other) is None and other.moves(scene) is None
        assert not scene.same(other)
    assert not scene.same(Surroundings((BALL, near), ('gap',), ('note',)))
