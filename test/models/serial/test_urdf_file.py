# SPDX-License-Identifier: Apache-2.0
import warnings

import numpy as np
import pytest
from robots import MOVING, random_urdf

from robodyn_ros.errors import ModelError
from robodyn_ros.models.serial.urdf_file import UrdfWarning, parse_urdf, read_urdf

INERTIAL = (
    '<inertial><mass value="2"/><origin xyz="0.1 0 0"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)


def joint(
    name='j1', kind='revolute', parent='base', child='tip', extra='', origin='', axis='0 0 1'
):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'{origin}<axis xyz="{axis}"/>{extra}</joint>'
    )


def robot(body, links=('base', 'tip')):
    return f'<robot name="r">{"".join(f"<link name={name!r}/>" for name in links)}{body}</robot>'


def test_what_a_fixed_joint_has_for_an_axis_does_not_matter():
    """Exporters write 0 0 0 (URDFs of PAL robots)."""
    body = joint(kind='fixed', axis='0 0 0') + joint(name='j2', parent='tip', child='hand')
    urdf = parse_urdf(robot(body, ('base', 'tip', 'hand')))
    assert [item.name for item in urdf.joints if item.name != 'j1'] == ['j2']


def test_reads_tree_limits_and_inertia():
    text = f"""<?xml version="1.0"?>
    <!-- a comment --><robot name="demo"><material name="m"/>
    <link name="tip">{INERTIAL}<visual><geometry><mesh filename="package://no/where.stl"/>
    </geometry></visual></link><link name="base"/><link name="tool"/>
    <joint name="f" type="fixed"><parent link="tip"/><child link="tool"/></joint>
    <joint name="j1" type="prismatic"><parent link="base"/><child link="tip"/>
    <origin xyz="1 2 3" rpy="0 0 0.5"/><axis xyz="0 3 4"/>
    <limit lower="-1" upper="2" velocity="0.5" effort="7"/></joint>
    <transmission name="t"><joint name="j1"/></transmission><gazebo/></robot>"""
    urdf = parse_urdf(text)
    assert (urdf.name, urdf.root, urdf.notes) == ('demo', 'base', ())
    assert [item.name for item in urdf.joints] == ['j1', 'f']
    first = urdf.joints[0]
    assert (first.lower, first.upper, first.velocity, first.effort) == (-1, 2, 0.5, 7)
    np.testing.assert_allclose(first.axis, [0, 0.6, 0.8])
    np.testing.assert_allclose(first.origin[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(first.origin[:2, 0], [np.cos(0.5), np.sin(0.5)])
    # Point masses on x: second moment 2 * 0.1^2 about the link, plus tr/2 - 0.1 = 0.05 each way.
    np.testing.assert_allclose(
        urdf.pseudo_inertia['tip'],
        [[0.07, 0, 0, 0.2], [0, 0.05, 0, 0], [0, 0, 0.05, 0], [0.2, 0, 0, 2]],
        atol=1e-15,
    )
    assert not urdf.pseudo_inertia['tool'].any()
    for word in ('mesh', 'visual', 'transmission', 'gazebo', 'material'):
        assert word not in urdf.xml


@pytest.mark.parametrize('seed', range(3))
def test_the_kept_text_reads_the_same_and_without_notes(seed):
    urdf = parse_urdf(random_urdf(5, seed))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        again = parse_urdf(urdf.xml)
    assert again.xml == urdf.xml
    for one, two in zip(urdf.joints, again.joints, strict=True):
        np.testing.assert_array_equal(one.origin, two.origin)
        np.testing.assert_array_equal(one.axis, two.axis)


def test_limits_that_are_absent_or_zero_do_not_limit():
    urdf = parse_urdf(robot(joint(extra='<limit effort="0" velocity="0"/>')))
    item = urdf.joints[0]
    assert (item.lower, item.upper) == (-np.inf, np.inf)
    assert (item.velocity, item.effort) == (np.inf, np.inf)
    turning = parse_urdf(robot(joint(kind='continuous', extra='<limit lower="0" upper="0"/>')))
    assert turning.joints[0].upper == np.inf
    assert parse_urdf(robot(joint())).joints[0].lower == -np.inf


def test_rounded_angles_and_axes_are_snapped_with_a_warning_that_names_the_joint():
    body = joint(origin='<origin rpy="1.5708 0.3 -3.1416"/>') + joint(
        name='j2', parent='tip', child='t2', axis='-1 1e-5 0'
    )
    with pytest.warns(UrdfWarning, match='exact in joint.s. j1, j2'):
        urdf = parse_urdf(robot(body, ('base', 'tip', 't2')), source='arm.urdf')
    assert len(urdf.notes) == 1
    assert urdf.notes[0].startswith('arm.urdf: ')
    cosine, sine = np.cos(0.3), np.sin(0.3)
    expected = [[-cosine, -sine, 0], [0, 0, 1], [-sine, cosine, 0]]
    np.testing.assert_allclose(urdf.joints[0].origin[:3, :3], expected, atol=1e-15)
    assert urdf.joints[1].axis.tolist() == [-1, 0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert parse_urdf(urdf.xml).notes == ()


def test_exact_angles_and_real_tilts_are_left_alone():
    body = joint(origin=f'<origin rpy="{np.pi / 2} 0.01 0"/>', axis='0 0.02 1')
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        urdf = parse_urdf(robot(body))
    assert urdf.joints[0].axis[1] == pytest.approx(0.02, rel=1e-3)
    assert urdf.joints[0].origin[2, 0] == pytest.approx(-np.sin(0.01))


@pytest.mark.parametrize(
    'inertial',
    [
        INERTIAL.replace('value="2"', 'value="-2"'),
        INERTIAL.replace('ixx="0.1"', 'ixx="0.9"'),
        INERTIAL.replace('ixy="0"', 'ixy="0.3"'),
    ],
)
def test_an_inertia_no_body_can_have_is_a_note(inertial):
    urdf = parse_urdf(f'<robot name="r"><link name="base">{inertial}</link></robot>')
    assert urdf.notes == (
        'URDF: link base has an impossible inertia, which is used as an a-priori value only',
    )


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('<robot', 'is not well-formed XML'),
        ('<sdf/>', 'starts with <robot>, this file with <sdf>'),
        ('<robot name="r"/>', 'has no links'),
        ('<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arm/></robot>', 'expand it first'),
        ('<robot><xacro:include filename="x"/></robot>', 'expand it first'),
        (robot('', ('a', 'a')), 'link a is defined twice'),
        (robot(joint() + joint(parent='tip', child='base')), 'joint j1 is defined twice'),
        (robot(joint(), ('base', 'tip', 'alone')), 'several root links: base, alone'),
        (robot(joint() + joint(name='j2')), 'tip has two parent joints, j1 and j2'),
        (robot(joint() + joint(name='j2', parent='tip', child='base')), 'form a loop|no root'),
        (robot(joint(child='gone')), 'joint j1 refers to link gone'),
        (robot(joint(kind='ball')), 'joint j1 has type "ball", expected one of revolute'),
        (robot(joint(axis='0 0 0')), 'joint j1: the axis must not be zero'),
        (robot(joint(origin='<origin rpy="nan 0 0"/>')), 'rpy of <origin> must be 3 finite'),
        (robot(joint(extra='<limit lower="x"/>')), 'joint j1: lower of <limit> must be a finite'),
        (robot(joint(extra='<limit lower="2" upper="1"/>')), 'lower limit 2.0 is above upper'),
        (robot('<joint name="j"/>'), 'joint j: <joint> has no type'),
        (robot('<joint type="fixed"/>'), '<joint> has no name'),
        (
            f'<robot><link name="b">{INERTIAL.replace("0.1", "nan")}</link></robot>',
            'link b: .* finite',
        ),
        (
            f'<robot><link name="b">{INERTIAL.replace("0.1", "1e16")}</link></robot>',
            r'link b: its inertia is too large, at most 1e\+15',
        ),
    ],
)
def test_refuses_with_a_sentence(text, message):
    with pytest.raises(ModelError, match=message) as caught:
        parse_urdf(text, source='arm.urdf')
    assert 'arm.urdf' in str(caught.value)


def test_files(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(random_urdf(2, 0, types=MOVING), encoding='utf-8')
    assert len([item for item in read_urdf(path).joints if item.type != 'fixed']) == 2
    path.write_bytes(b'\xff\xfe\x00')
    for bad in (path, tmp_path / 'absent.urdf', tmp_path):
        with pytest.raises(ModelError, match='cannot be read'):
            read_urdf(bad)


def test_position_limits_are_those_that_are_given():
    joint = (
        '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="l{0}"/>'
        '<axis xyz="0 0 1"/>{3}</joint><link name="l{0}"/>'
    )
    limit = '<limit lower="-1" upper="2" effort="1" velocity="1"/>'
    text = joint.format('a', 'revolute', 'base', limit) + joint.format('b', 'continuous', 'la', '')
    urdf = parse_urdf(f'<robot name="r"><link name="base"/>{text}</robot>')
    assert urdf.position_limits == {'a': (-1.0, 2.0)}
