# SPDX-License-Identifier: Apache-2.0
"""A robot must not hit itself: an arm of balls whose distances are known."""

import numpy as np
import pytest
from robots import SIX_AXIS, UR10, chain_urdf

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.self_collision import SOFT, SelfCollisionLimit
from robodyn_ros.excitation.trajectory import Motion
from robodyn_ros.models.serial.urdf import UrdfModel

RADIUS = 0.1


def arm(tmp_path, ball=True):
    """A flat arm with links 1 m long and a ball of 0.1 m at the end of each."""
    shape = f'<geometry><sphere radius="{RADIUS}"/></geometry>'
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    body = f'<inertial><mass value="1"/>{inertia}</inertial>'
    link = f'{body}<collision><origin xyz="1 0 0"/>{shape}</collision>'
    links = [f'<collision>{shape}</collision>', link, link, link] if ball else [''] * 4
    path = tmp_path / 'arm.urdf'
    path.write_text(chain_urdf(*links, first=0.0, length=1.0, limit=3.0))
    return path


def motion(q):
    q = np.atleast_2d(np.array(q, dtype=float))
    return Motion(0.5 * np.arange(len(q)), q, 0.0 * q, 0.0 * q)


def test_two_balls_meet_where_geometry_says(tmp_path):
    path = arm(tmp_path)
    model = UrdfModel.from_file(path)
    # joints 2 and 3 bent by a: the distance of balls 1 and 3 is 2 cos(a / 2)
    touch = 2.0 * np.arccos(RADIUS)
    rule = SelfCollisionLimit(str(path)).rule(model)
    assert rule.excess(motion([0, 0, touch - 0.01])).size == 0.0
    excess = rule.excess(motion([[0, 0, 0], [0, 0, touch + 0.01]]))
    assert excess.size == 0.5
    assert excess.sentence == "'link1' and 'link3' collide, 10.0 mm deep, at t = 0.500 s"
    wide = SelfCollisionLimit(str(path), clearance=0.3).rule(model)
    # ball 0, on the base, counts too: the arm folded back comes near to it
    assert wide.excess(motion([0, 0, 2.0 * np.arccos(0.26)])).size == 0.0
    assert wide.excess(motion([0, 0, 2.0 * np.arccos(0.24)])).size == 1.0


def test_penalty_is_of_the_distances_and_has_its_derivative(tmp_path):
    path = arm(tmp_path)
    rule = SelfCollisionLimit(str(path), clearance=0.4).rule(UrdfModel.from_file(path))
    q = np.array([[0.3, 0.0, 2.9], [0.1, 2.4, 0.2], [0.0, 0.1, 0.0]])
    rest = np.zeros(q.shape)
    value, slopes = rule.penalty((q, rest, rest))
    near = 0.4 + SOFT + 2 * RADIUS - 2 * np.cos([2.9 / 2, 2.4 / 2])
    assert near[1] < 0.0 or value > 0.0
    for row, joint in np.ndindex(q.shape):
        sums = []
        for step in (1e-6, -1e-6):
            moved = q.copy()
            moved[row, joint] += step
            sums.append(rule.penalty((moved, rest, rest))[0])
        expected = (sums[0] - sums[1]) / 2e-6
        assert slopes[0][row, joint] == pytest.approx(expected, rel=1e-3, abs=1e-5)
    assert np.abs(slopes[0][:2]).max() > 0.1 and not slopes[0][2].any()


def test_refuses_with_a_sentence(tmp_path):
    model = UrdfModel.from_file(SIX_AXIS)
    far = arm(tmp_path).read_text().replace('xyz="1 0 0"/><geom', 'xyz="1 1e308 0"/><geom')
    bare = arm(tmp_path, ball=False)
    for limit, words in (
        (SelfCollisionLimit('nowhere.urdf'), 'nowhere.urdf cannot be read'),
        (SelfCollisionLimit(str(SIX_AXIS), clearance=-0.1), 'clearance must not be below 0'),
        (SelfCollisionLimit(str(arm(tmp_path))), "has no joint 'joint4'"),
        (SelfCollisionLimit(far), 'geometry link1_0: coordinates .* at most 100000 m, got 1e.308'),
    ):
        with pytest.raises(MotionError, match=words):
            limit.rule(model)
    arm(tmp_path, ball=False)
    with pytest.raises(MotionError, match='no two links with collision geometry'):
        SelfCollisionLimit(str(bare)).rule(UrdfModel.from_file(bare))


def test_samples_are_skipped_only_where_nothing_can_be_near(tmp_path):
    path = arm(tmp_path)
    rule = SelfCollisionLimit(str(path)).rule(UrdfModel.from_file(path))
    random = np.random.default_rng(1)
    q = np.clip(np.cumsum(random.normal(0.0, 0.05, (3000, 3)), axis=0), -3.0, 3.0)
    every = {
        (row, pair)
        for row in range(len(q))
        for pair in range(len(rule.geometry.pairs))
        if rule.geometry.distance(pair, q[row]) < 0.9
    }
    looks = list(rule.geometry.nearer(q, 0.9))
    assert every and every <= {(row, pair) for row, pair, _ in looks}
    assert len(looks) < 0.7 * len(q) * len(rule.geometry.pairs)


def test_links_that_always_touch_are_left_out_by_name_and_others_by_the_srdf(tmp_path):
    path = arm(tmp_path)
    wide = path.read_text().replace('<origin xyz="1 0 0"/>', '<origin xyz="0.02 0 0"/>')
    wide = wide.replace('<origin xyz="1.0 0 0"/>', '<origin xyz="0.02 0 0"/>')
    path.write_text(wide)
    model = UrdfModel.from_file(path)
    # links of 2 cm with balls of 10 cm: every two of them overlap in every position
    rule = SelfCollisionLimit(str(path)).rule(model)
    assert rule.touching == [('link0', 'link2'), ('link0', 'link3'), ('link1', 'link3')]
    assert rule.excess(motion([0, 0, 0])).size == 0.0, 'nothing is left to collide'
    path = arm(tmp_path)
    srdf = tmp_path / 'arm.srdf'
    srdf.write_text('<robot name="arm"><disable_collisions link1="link3" link2="link1"/></robot>')
    rule = SelfCollisionLimit(str(path), srdf=str(srdf)).rule(model)
    assert rule.geometry.pairs == [('link0', 'link2'), ('link0', 'link3')] and not rule.touching


TETRAHEDRON = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n'


def test_meshes_are_found_and_those_that_are_not_are_named(tmp_path):
    package = tmp_path / 'my_arm'
    (package / 'urdf').mkdir(parents=True)
    (package / 'part.obj').write_text(TETRAHEDRON)
    path = arm(package / 'urdf')
    ball = f'<sphere radius="{RADIUS}"/>'
    mesh = '<mesh filename="package://my_arm/part.obj" scale="0.1 0.1 0.1"/>'
    path.write_text(path.read_text().replace(ball, mesh))
    model = UrdfModel.from_file(path)
    rule = SelfCollisionLimit(str(path)).rule(model)
    assert rule.file.solid == ['link0', 'link1', 'link2', 'link3'] and not rule.file.lost
    # the corner of link 3's mesh at y = 0.1 m comes to link 1's face at x + y + z = 0.1 m
    pair = rule.geometry.pairs.index(('link1', 'link3'))
    assert rule.geometry.distance(pair, np.zeros(3)) == pytest.approx(1.9, abs=1e-6)
    (package / 'part.obj').unlink()
    with pytest.raises(MotionError, match=r'1 mesh was not found \(package://my_arm/part\.obj\)'):
        SelfCollisionLimit(str(path)).rule(model)
    path.write_text(path.read_text().replace('part.obj', f'{"a" * 5000}.stl'))
    with pytest.raises(MotionError, match=r'not found \(package://my_arm/aaa'):
        SelfCollisionLimit(str(path)).rule(model)


def test_a_larger_clearance_never_hides_a_collision():
    """Base and upper arm of the UR10 are never 100 mm apart, but collide in this pose."""
    model = UrdfModel.from_file(UR10)
    pose = motion([1.33, 2.162, 1.117, -0.824, 0.476, 0.398])
    for clearance in (0.001, 0.02, 0.1, 0.15):
        rule = SelfCollisionLimit(str(UR10), clearance=clearance).rule(model)
        assert rule.excess(pose).size == 1.0, clearance
    assert ('base_link', 'upper_arm_link') in rule.close and not rule.touching


def test_links_without_collision_are_checked_by_what_is_shown_of_them(tmp_path):
    """Link 1 shows a ball, link 3 a mesh, once flat; link 2 shows nothing and has its length."""
    path = arm(tmp_path)
    (tmp_path / 'part.obj').write_text(TETRAHEDRON)
    ball, mesh = f'<sphere radius="{RADIUS}"/>', '<mesh filename="part.obj" scale=".1 .1 .1"/>'
    base, one, two, three = path.read_text().split('<link name="link')[1:]
    shape = one[one.index('<collision>') : one.index('</link>')]
    shown = shape.replace('collision', 'visual')
    text = base, one.replace(shape, shown), two.replace(shape, ''), three.replace(
        shape, shown.replace(ball, mesh)
    )  # fmt: skip
    path.write_text('<link name="link'.join(['<robot name="arm">', *text]))
    model = UrdfModel.from_file(path)
    rule = SelfCollisionLimit(str(path)).rule(model)
    assert rule.file.solid == ['link0', 'link1', 'link2', 'link3'] and not rule.file.bare
    assert rule.file.shown == ['link1', 'link3']
    (two,) = rule.file.capsules
    assert (two.link, two.radius) == ('link2', pytest.approx(0.12))
    # the ball of the base is 1 m from the frame of link 2, around which its capsule ends
    pair = rule.geometry.pairs.index(('link0', 'link2'))
    distance = rule.geometry.distance(pair, np.zeros(3))
    assert distance == pytest.approx(1.0 - RADIUS - 0.12, abs=1e-6)
    # folded back by joint 3, the mesh of link 3 comes to link 1, whose ball is at x = 1 m
    assert (
        rule.excess(motion([0, 0, 3.0])).size == 1.0 == 1.0 - rule.excess(motion([0, 0, 0])).size
    )
    # the corner of the hull is 2 m from the centre of the ball of link 1
    pair = rule.geometry.pairs.index(('link1', 'link3'))
    assert rule.geometry.distance(pair, np.zeros(3)) == pytest.approx(2.0 - RADIUS, abs=1e-6)
    (tmp_path / 'part.obj').write_text(TETRAHEDRON.replace('v 0 0 1\n', 'v 1 1 0\n'))
    _, three = SelfCollisionLimit(str(path)).rule(model).file.capsules
    assert three.link == 'link3' and three.origin == 'fitted to its flat visual mesh'
    np.testing.assert_allclose(three.ends.mean(axis=0), [1.05, 0.05, 0.0], atol=0.02)
    exact = SelfCollisionLimit(str(path), substitutes=False)
    with pytest.raises(MotionError, match='no two links with collision geometry'):
        exact.rule(model)
