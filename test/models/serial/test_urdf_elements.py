# SPDX-License-Identifier: Apache-2.0
"""Anything in a URDF that a loader does not take is refused, or its link is named."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import URDF_FOLDER

from robodyn_ros.errors import ModelError, RobodynError
from robodyn_ros.excitation.collisions.robot_files import read_collision_file
from robodyn_ros.models.serial.urdf_elements import check_elements
from robodyn_ros.models.serial.urdf_file import UrdfWarning, parse_urdf

ROBOT = """<robot name="r"><link name="base"><collision><origin xyz="0 0 0.1" rpy="0 0 0.3"/>
<geometry><box size="0.3 0.2 0.1"/></geometry></collision></link>
<link name="arm"><inertial><origin xyz="0.1 0 0" rpy="0 0.4 0"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0.01" iyy="0.1" iyz="0" izz="0.1"/></inertial>
<collision><origin xyz="0.2 0 0"/><geometry><capsule radius="0.05" length="0.3"/></geometry>
</collision><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="hand"><collision><geometry><ellipsoid radii="0.1 0.05 0.2"/></geometry></collision>
<collision><geometry><cylinder radius="0.05" length="0.1"/></geometry></collision></link>
<joint name="j1" type="revolute"><parent link="base"/><child link="arm"/>
<origin xyz="0 0 0.3" rpy="0 0.2 0"/><axis xyz="0 1 0"/>
<limit lower="-1.5" upper="1.2" velocity="2" effort="30"/></joint>
<joint name="j2" type="prismatic"><parent link="arm"/><child link="hand"/>
<origin xyz="0.4 0 0"/><axis xyz="0 0 1"/><limit lower="-0.1" upper="0.2" velocity="1" effort="9"/>
<mimic joint="j1" multiplier="0.1" offset="0.05"/></joint></robot>"""
WORDS = [
    '', ' ', 'nan', 'inf', '-inf', '1e999', '0x1', '1_0', '1,5', '1;5', '1.5f', '90deg', '٣', '−1',
    '1e', '.', '+-1', 'one', '--1', '1\t',
]  # fmt: skip
POSITIVE = ('radius', 'length', 'size', 'radii')
OPTIONAL = ('xyz', 'rpy', 'lower', 'upper', 'velocity', 'effort', 'multiplier', 'offset', 'name')
MOVABLE = ('collision', 'geometry', 'axis', 'limit', 'mimic', 'mass', 'inertia')


def elements():
    """Return a fresh tree, and its elements with the element and the link or joint around them."""
    root = ET.fromstring(ROBOT)
    found = []
    for owner in root:
        stack = [(owner, part) for part in owner]
        while stack:
            parent, element = stack.pop()
            found.append((owner, parent, element))
            stack += [(element, part) for part in element]
    return root, found


def misspelled(draw, name):
    """Return a name in other letters, in another namespace, or with one wrong letter."""
    at = draw(st.integers(0, len(name) - 1))
    return draw(
        st.sampled_from(
            [
                name.capitalize(), name.upper(), f'{{http://x}}{name}', f'{name}s',
                name[:at] + name[at + 1 :], name[:at] + name[at] + name[at:],
            ]
        )
    )  # fmt: skip


def change(draw, root, found):
    """Change an element so that a loader that is not strict drops something; return its owner."""
    owner, parent, element = draw(st.sampled_from(found))
    kinds = ['tag', 'repeat', 'text'] + ['name', 'value', 'remove'] * bool(element.attrib)
    kinds += ['move'] * (element.tag in MOVABLE)
    kind = draw(st.sampled_from(kinds))
    key = draw(st.sampled_from(sorted(element.attrib))) if element.attrib else ''
    value = element.attrib.get(key, '')
    if kind == 'tag':
        element.tag = misspelled(draw, element.tag)
    elif kind == 'repeat':
        parent.append(element)
    elif kind == 'text':
        element.text = ' '.join(element.attrib.values()) or '1'
        element.attrib.clear()
    elif kind == 'name':
        del element.attrib[key]
        element.set(misspelled(draw, key), value)
    elif kind == 'value':
        words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
        values = [' '.join(words), value.replace(' ', ',') + ',', f'{value} 1']
        values += [f'-{value}', value.rpartition(' ')[0]] if key in POSITIVE else []
        element.set(key, draw(st.sampled_from([*values, f' {value}  '])))
    elif kind == 'remove' and key not in OPTIONAL:
        del element.attrib[key]
    elif kind == 'move':
        parent.remove(element)
        places = [item for item in root if item.tag != owner.tag]
        draw(st.sampled_from([root, *places] if element.tag == 'collision' else places)).append(
            element
        )
    return owner.get('name')


def loaded(text):
    """Return all that is loaded of a robot as comparable values, and what was not readable."""
    urdf, file = parse_urdf(text, warn=False), read_collision_file(text)
    plain = [
        [
            value.tolist() if isinstance(value, np.ndarray) else value
            for value in vars(row).values()
        ]
        for row in urdf.joints
    ]
    inertia = {name: value.tolist() for name, value in urdf.pseudo_inertia.items()}
    shapes = {
        (item.link, item.kind, *item.size.tolist(), *item.pose.ravel().tolist())
        for item in file.shapes
    }
    return (plain, inertia, shapes), file.unread


@settings(max_examples=400)
@given(st.data())
def test_what_is_dropped_is_refused_or_named(data):
    root, found = elements()
    owner = change(data.draw, root, found)
    text = ET.tostring(root, encoding='unicode')
    try:
        content, unread = loaded(text)
    except RobodynError as error:
        assert f' {owner}' in str(error) or '<' in str(error), error
        return
    assert content == loaded(ROBOT)[0] or any(f"link '{owner}'" in item for item in unread), text


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('<axis xyz', '<axis xzy', 'joint j1: <axis> has xzy, expected only the attributes xyz'),
        ('<limit lower="-1.5"', '<limit louer="-1.5"', 'joint j1: <limit> has louer, expected'),
        ('velocity="2"', 'velocity="-2"', 'joint j1: velocity of <limit> must be above 0, got -2'),
        ('rpy="0 0.2 0"', 'rpy="0 11.5deg 0"', 'rpy of <origin> must be 3 finite numbers, got "0'),
        ('multiplier="0.1"', 'multiplier=""', 'j2: multiplier of <mimic> must be a finite number'),
        (
            '<mass value="2"/>',
            '<mass>2</mass>',
            'link arm: <mass> has "2", expected only the attr',
        ),
        ('<collision>', '<body><collision/></body><collision>', 'has the element <body>, which'),
        (
            '<joint',
            '<arm><link><inertial/></link></arm><joint',
            '<robot> has the element <arm>, wh',
        ),
        ('<joint', '<collision/><joint', '<robot> has the element <collision>, which is not read'),
        ('<link name="hand">', '<link>', 'x.urdf: <link> has no name'),
        ('value="2"', 'value="1e999"', 'value of <mass> must be a finite number, got "1e999"'),
    ],
)
def test_the_sentence_names_the_element(old, new, words):
    assert old in ROBOT.replace('\n', '')
    with pytest.raises(ModelError) as caught:
        parse_urdf(ROBOT.replace('\n', '').replace(old, new, 1), source='x.urdf')
    assert words in str(caught.value) and 'x.urdf' in str(caught.value)


def test_elements_of_other_programs_stay_without_effect():
    """They are in public robots: of Gazebo, ros2_control, Drake, PR2 and others."""
    more = {
        '</robot>': '<gazebo reference="arm"><collision/></gazebo><transmission name="t"><joint '
        'name="j1"/></transmission><ros2_control name="c"><joint name="j1"/></ros2_control>'
        '<material name="m"/><loop_joint/><frame/><d:collision_filter_group/></robot>',
        '<link name="arm">': '<link name="arm"><self_collision_checking/><gravity/><origin '
        'xyz="0 0 0"/><visual><material name="m"/></visual>',
        '<axis xyz="0 1 0"/>': '<axis xyz="0 1 0" rpy="0 0 0"/><dynamics damping="1"/>'
        '<calibration/><safety_controller/><traits/><joint_properties/>',
        'effort="30"': 'effort="30" d:acceleration="1" k_velocity="1"',
        'izz="0.1"': 'izz="0.1" iyx="0"',
        '<geometry><box': '<material/><verbose/><geometry name="g"><box',
        '<robot': '<robot xmlns:d="http://drake.mit.edu"',
    }
    text = ROBOT
    for old, new in more.items():
        assert old in text
        text = text.replace(old, new)
    assert loaded(text) == loaded(ROBOT) and not loaded(text)[1]


def test_what_belongs_to_nothing_is_a_note():
    """Grippers of Robotiq have one; a mimic of a joint without its prefix is in a hand."""
    assert parse_urdf(ROBOT.replace('<joint', '<inertial/><joint', 1)).notes == (
        'URDF: an <inertial> outside of links is ignored',
    )
    assert parse_urdf(ROBOT.replace('mimic joint="j1"', 'mimic joint="j9"')).notes == (
        'URDF: joint j2: <mimic> refers to joint j9, which is missing',
    )


def test_a_second_origin_of_a_fixed_joint_is_a_warning():
    """The file of the recorded LWR4+ has one; that of a joint that moves is refused."""
    text = ROBOT.replace('<origin xyz="0 0 0.3"', '<origin xyz="1 0 0"/><origin xyz="0 0 0.3"')
    with pytest.raises(ModelError, match='joint j1: <joint> has 2 elements <origin>'):
        parse_urdf(text)
    with pytest.warns(UrdfWarning, match='the first one is used in fixed joint.s. j1'):
        urdf = parse_urdf(text.replace('type="revolute"', 'type="fixed"'))
    assert urdf.joints[0].origin[:3, 3].tolist() == [1.0, 0.0, 0.0]


def test_blanks_around_numbers_are_gone_from_what_other_readers_get():
    """urdfdom, which the controller uses, refuses them."""
    spaced = parse_urdf(ROBOT.replace('value="2"', 'value=" 2 "').replace('"30"', '"30 "'))
    assert spaced.xml == parse_urdf(ROBOT).xml


@pytest.mark.parametrize('path', sorted(URDF_FOLDER.glob('*.urdf')), ids=lambda path: path.stem)
def test_our_robots_have_nothing_that_is_not_read(path: Path):
    root = ET.parse(path).getroot()
    for element in (root, *root.findall('link'), *root.findall('joint')):
        check_elements(element, path.name)
    assert not read_collision_file(str(path)).unread
