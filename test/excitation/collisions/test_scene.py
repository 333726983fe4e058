# SPDX-License-Identifier: Apache-2.0
"""Planning scenes of MoveIt: the format, and distances against geometry by hand."""

import numpy as np
import pytest

from robodyn_ros.bounds import SCENE
from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.collisions.scene import read_scene
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.options import collision_coverage

ROBOT = """<robot name="r"><link name="base"/><link name="ball"><collision>
<origin xyz="1 0 0"/><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="joint1" type="revolute"><parent link="base"/><child link="ball"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="1" effort="1"/></joint></robot>"""
"""A ball of radius 0.1 m that moves on a circle of radius 1 m around z."""
HALF = np.sqrt(0.5)
STANDING = '0 0 0\n0 0 0 1'
CUBE = '\n'.join(f'{x} {y} {z}' for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
AROUND_X = f'{HALF} 0 0 {HALF}'
AROUND_Z = f'0 0 {HALF} {HALF}'


def written(path, *objects, new=True):
    """Write a scene as MoveIt does: (name, pose of the object, [(shape, pose)])."""
    lines = ['(noname)+']
    for name, pose, shapes in objects:
        lines += [f'* {name}', *([pose] if new else []), str(len(shapes))]
        for shape, place in shapes:
            lines += [shape, place, '0 0.5 0 1']
        lines += ['1', 'corner', STANDING] if new else []
    path.write_text('\n'.join([*lines, '.', '']))
    return str(path)


def distance(scene, *, at=0.0):
    """Distance of the ball from the only shape of a scene."""
    geometry = collision_coverage({'scene': scene}, ['joint1'], ROBOT).rule.geometry
    assert len(geometry.pairs) == 1 and geometry.at_walls == [True]
    return geometry.distance(0, np.array([at]))


@pytest.mark.parametrize(
    ('shape', 'pose', 'expected'),
    [
        ('sphere\n0.2', '2 0 0\n0 0 0 1', 0.7),
        ('box\n0.4 0.2 6', '2 0 0\n0 0 0 1', 0.7),
        ('box\n0.4 0.2 6', f'2 0 0\n{AROUND_Z}', 0.8),
        ('cylinder\n0.3 0.8', '2 0 0\n0 0 0 1', 0.6),
        ('cylinder\n0.3 0.8', f'1 2 0\n{AROUND_X}', 1.5),
        ('cone\n0.5 2', '1 0 -3\n0 0 0 1', 1.9),  # its tip is on +z
        ('cone\n0.5 2', '1 0 -3\n1 0 0 0', 1.9),  # upside down
        ('plane\n-2 0 0 0', '2 0 0\n0 0 0 1', 0.9),
        (f'mesh\n8 1\n{CUBE}\n0 1 2', '4 0 0\n0 0 0 1', 1.9),
        ('mesh\n3 1\n0 0 0\n0 0 1\n0 0 -1\n0 1 2', '1.5 0 0\n0 0 0 1', 0.4),  # a line
    ],
)
def test_distances_are_those_of_geometry(shape, pose, expected, tmp_path):
    for new in (True, False):
        scene = written(tmp_path / 'a.scene', ('my box', STANDING, [(shape, pose)]), new=new)
        assert distance(scene) == pytest.approx(expected, abs=1e-5)


def test_the_pose_of_a_shape_is_in_that_of_its_object(tmp_path):
    shape = ('sphere\n0.2', '2 0 0\n0 0 0 1')
    scene = written(tmp_path / 'a.scene', ('a', f'0 1 0\n{AROUND_Z}', [shape]))
    assert read_scene(scene)[0].pose[:3, 3] == pytest.approx([0.0, 3.0, 0.0])
    assert distance(scene, at=np.pi / 2) == pytest.approx(1.7)


def test_a_motion_into_the_scene_collides_with_what_is_named(tmp_path):
    post = ('cylinder\n0.05 3', '0 1 0\n0 0 0 1')
    far = ('box\n1 1 1', '0 0 9\n0 0 0 1')
    scene = written(tmp_path / 'a.scene', ('far', STANDING, [far]), ('post', STANDING, [post]))
    points = TrajectoryPoints(('joint1',), np.array([0.0, 1.0, 2.0]), np.array([[0], [1], [2.0]]))
    coverage = collision_coverage({'scene': scene}, ['joint1'], ROBOT)
    report = coverage.check(SplineTrajectory(points=points))
    assert 'shape 2 of the scene, post' in report.broken
    assert report.contacts.distance == pytest.approx(-0.15, abs=1e-3)
    # objects do not say that the other places are free
    assert 'what else stands around the robot' in coverage.unchecked[-1]
    (tmp_path / 'b.scene').write_text('empty\n.\n')
    empty = collision_coverage({'scene': str(tmp_path / 'b.scene')}, ['joint1'], ROBOT)
    assert 'what stands around the robot' in empty.unchecked[-1] and empty.rule is None


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('', r'line 1: expected an object .* or the end \("."\), got the end of the file'),
        ('scene\n', 'got the end of the file; export it again from MoveIt'),
        ('scene\nobject\n.', r'line 2: expected an object \("\* NAME"\) or .*, got object'),
        ('s\n* a\n0 0 0\n0 0 0 1\n1\nprism\n3', "'a' is a 'prism', expected box, sphere, "),
        ('s\n* a\n0 0 0\n0 0 0 1\n1\nplane\n0 0 0 1', "'a' has a plane without normal"),
        ('s\n* a\n0 0 0\n0 0 0 1\n1\nbox\n1 1', 'expected the size of a box, 3 numbers up to'),
        ('s\n* a\n0 0 0\n0 0 0 1\n1\nbox\n1 1 0', "object 'a' has the size .*, not above 0"),
        ('s\n* a\n0 0 nan\n0 0 0 1\n1', 'line 3: expected a position, 3 numbers'),
        ('s\n* a\n0 0 1e6\n0 0 0 1\n1', 'line 3: expected a position, .* up to 100000 in a line'),
        ('s\n* a\n0 0 0\n0 0 0 0\n1', 'line 4: expected a quaternion that is not zero'),
        ('s\n* a\n0 0 0\n0 0 0 1e-320\n1', 'line 4: expected a quaternion that is not zero'),
        ('s\n* a\n0 0 0\n0 0 0 x\n1', 'line 4: expected a quaternion, 4 numbers'),
        ('s\n* a\n-1\n0', 'line 3: expected number of shapes, 1 integers of 0 or more, got -1'),
        ('s\n* a\n0.9\n0', 'integers of 0 or more, got 0.9'),
        ('s\n* a\n1\nmesh\n0 0\n', "object 'a' has a mesh that has no vertices"),
        ('s\n* a\n1\nsphere\n1\n0 0 0\n0 0 0 1\n0 0 0', 'line 8: expected a colour, 4 numbers'),
    ],
)
def test_a_damaged_file_is_refused(text, words, tmp_path):
    (tmp_path / 'a.scene').write_text(text)
    with pytest.raises(RobodynError, match=f'the scene {tmp_path}/a.scene.*{words}'):
        read_scene(str(tmp_path / 'a.scene'))


def test_too_many_shapes_are_refused(tmp_path):
    with pytest.raises(RobodynError, match=r'the scene /nowhere\.scene cannot be read'):
        read_scene('/nowhere.scene')
    many = [('sphere\n1', STANDING)] * (SCENE.most + 1)
    with pytest.raises(RobodynError, match=f'shapes of a planning scene: at most {SCENE.most}'):
        read_scene(written(tmp_path / 'a.scene', ('a', STANDING, many)))
