# SPDX-License-Identifier: Apache-2.0
"""Every `<collision>` of a link becomes a shape, or its link is not checked."""

import re

import numpy as np
import pytest
from robots import SIX_AXIS, chain_urdf

from robodyn_ros.excitation.collisions.check import collision_lines
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.options import collision_coverage

JOINTS = ['joint1', 'joint2', 'joint3']
SPACE = {'floor': -5.0, 'box': [-9, -9, -9, 9, 9, 9]}
TETRAHEDRON = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n'
BALL = '<geometry><sphere radius="0.1"/></geometry>'
SHAPE = '<collision>{}<geometry>{}</geometry></collision>'
TURNED = '<origin rpy="0 1.5707963267948966 0"/>'
SIX = [f'joint{number}' for number in range(1, 7)]
SWING = np.array([-1.3, -1.2, -1.8, -2.7, -2.3, 1.5])


def urdf(shape):
    """Return a chain of three joints, 0.5 m apart; `shape` is that of its last link."""
    ball = f'<collision>{BALL}</collision>'
    return chain_urdf(ball, ball, ball, shape)


def coverage(shape, origin=''):
    return collision_coverage(SPACE, JOINTS, urdf(SHAPE.format(origin, shape)))


@pytest.mark.parametrize(
    ('shape', 'origin', 'reach'),
    [
        ('<capsule radius="0.05" length="0.4"/>', '', 0.05),
        ('<capsule radius="0.05" length="0.4"/>', TURNED, 0.25),
        ('<ellipsoid radii="0.3 0.1 0.2"/>', TURNED, 0.2),
        ('<sphere radius=" 0.1 "/>', '<origin xyz="-0.2 0 0 "/>', 0.3),
        ('<sphere radius="0"/>', '', 0.0),
        ('<ellipsoid radii="0 0 0"/>', '', 0.0),
    ],
)
def test_shapes_are_as_large_as_they_say(shape, origin, reach):
    """Link 1 is a ball of 0.1 m, 1 m from the frame of link 3."""
    found = coverage(shape, origin)
    assert found.unchecked == ()
    geometry = found.rule.geometry
    pair = geometry.pairs.index(('link1', 'link3'))
    assert geometry.distance(pair, np.zeros(3)) == pytest.approx(0.9 - reach, abs=1e-5)


def test_a_mirrored_mesh_is_mirrored(tmp_path):
    (tmp_path / 'part.obj').write_text(TETRAHEDRON)
    for x, distance in ((0.1, 0.9), (-0.1, 0.8)):
        mesh = f'<mesh filename="{tmp_path}/part.obj" scale="{x} 0.1 0.1"/>'
        geometry = coverage(mesh).rule.geometry
        pair = geometry.pairs.index(('link1', 'link3'))
        assert geometry.distance(pair, np.zeros(3)) == pytest.approx(distance, abs=1e-5)


@pytest.mark.parametrize(
    ('shape', 'origin', 'words'),
    [
        ('<cone radius="0.1" length="1"/>', '', 'expected one <geometry> with one of box, sphere'),
        ('<sphere radius="0.1"/><box size="1 1 1"/>', '', 'got sphere, box'),
        ('<sphere/>', '', '<sphere> has no radius'),
        (
            '<box size="1 1"/>',
            '',
            'size of <box> must be 3 finite numbers of at least 0, got "1 1"',
        ),
        ('<sphere radius="0,1"/>', '', 'must be a finite number of at least 0, got "0,1"'),
        ('<sphere radius="-0.1"/>', '', 'must be a finite number of at least 0, got "-0.1"'),
        ('<sphere radius="0.1"/>', '<origin xyx="0 0 0"/>', '<origin> has xyx'),
        ('<mesh/>', '', '<mesh> has no filename'),
        ('<mesh filename="a.stl" scale="0 1 1"/>', '', 'scale of <mesh> must not be 0'),
    ],
)
def test_what_is_no_shape_is_not_checked(shape, origin, words):
    """Whatever else is known of the link: with a second shape, and with a visual one."""
    bad, ball = SHAPE.format(origin, shape), SHAPE.format('', BALL[10:-11])
    for text in (bad, bad + ball, bad + ball.replace('collision', 'visual')):
        found = collision_coverage(SPACE, JOINTS, urdf(text))
        assert found.unchecked[0].startswith(
            "geometry that cannot be read: link 'link3', <collision>: "
        )
        assert words in found.unchecked[0]


def test_a_link_whose_other_shape_is_known_is_guessed():
    text = SHAPE.format('', '<cone/>') + SHAPE.format('', '<sphere radius="0.1"/>')
    assert collision_coverage(SPACE, JOINTS, urdf(text)).rule.file.guessed == ['link3']


def six_axis(change):
    """Return the robot with limits of 3.1 rad and other shapes of links 4 to 6, only for them."""
    text = re.sub(r'lower="\S+" upper="\S+"', 'lower="-3.1" upper="3.1"', SIX_AXIS.read_text())
    at = text.index('<link name="link4">')
    tail = re.sub(r'<visual>.*?</visual>', '', text[at:], flags=re.S)
    return text[:at] + change(tail)


def test_a_motion_that_hits_the_arm_by_145_mm():
    motion = SineMotion(
        joints=SIX, start=-SWING, target=SWING, frequency=0.05, duration=20.0
    )  # fmt: skip
    capsules = six_axis(lambda text: text.replace('<cylinder', '<capsule'))
    report = collision_coverage(SPACE, SIX, capsules).check(motion)
    assert report.contacts.distance == pytest.approx(-0.146, abs=1e-3)
    assert report.contacts.pair == ('link1', 'link5') and report.contacts.share > 0.5
    assert report.broken and not report.unchecked
    for change in (
        lambda text: text.replace('<cylinder', '<cone'),
        lambda text: text.replace('radius="0.0', 'radius="0,0'),
        lambda text: re.sub('<geometry>.*?</geometry>', '<geometry/>', text),
        lambda text: re.sub('(<collision>\\s*<origin xyz=".*?) 0"', r'\1"', text),
    ):
        facts = collision_coverage(SPACE, SIX, six_axis(change)).check(motion).facts()
        (said,) = (text for text in facts['not_checked'] if 'cannot be read' in text)
        assert all(f"link 'link{number}'" in said for number in (4, 5, 6))
        assert f'NOT checked: {said}' in collision_lines(facts)
