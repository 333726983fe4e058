# SPDX-License-Identifier: Apache-2.0
"""The identified URDF is the user's file: only inertials and joint dynamics differ."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
import yaml

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.result.urdf import inertials_yaml, update_urdf
from robodyn_ros.identification.result.urdf_text import UrdfText
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.serial.inertia import pseudo_inertia

BODY = """<inertial><origin xyz="0.1 0 0"/><mass value="{}"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>"""
URDF = f"""<?xml version="1.0"?>
<!-- made by hand - almost; <link name="no"><inertial/></link> -->
<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro" version="1.0">
  <link name="base"/>
  <joint name='turn' type='revolute'>
    <parent link="base"/><child link="arm"/> <!-- a > b --><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="3" effort="1e2"/>
    <dynamics spring_reference="0.5" damping="9" friction="9"></dynamics>
  </joint>
  <link name="arm" kind="a&gt;b">
    <visual><geometry><mesh filename="package://x/arm.dae" scale="1 1 1"/></geometry></visual>
    {BODY.format(4)}
    <collision name='&quot;>'><geometry><box size="1 1 1"/></geometry></collision>
  </link>
\t<joint name="bend" type="revolute">
\t\t<parent link="arm"/><child link="hand"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
\t\t<limit lower="-2" upper="2" velocity="3" effort="100"/>
\t</joint>
  <link name="hand"><!-- no inertial --><visual><geometry><sphere radius="1"/></geometry></visual>
  </link>
  <joint name="mount" type="fixed"><parent link="hand"/><child link="tool-- "/></joint>
  <link name="tool-- ">{BODY.format(0.5)}</link>
  <joint name="grip" type="prismatic"><parent link="tool-- "/><child link="finger"/>
    <origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="1" velocity="1" effort="1"/></joint>
  <link name="finger">{BODY.format(0.3)}</link>
  <gazebo reference="arm"><![CDATA[<inertial> & <dynamics/>]]><inertial/></gazebo>
  <ros2_control name="s" type="system"><joint name="turn"><dynamics/></joint></ros2_control>
</robot>
<!-- the end -->
"""
JOINTS = ['turn', 'bend']


def identified(text, hand_mass=2.0):
    """A model of the text with other values: its arm has 5 kg."""
    model = robot_model(text, joints=JOINTS, friction=['viscous', 'coulomb'])
    values = np.nan_to_num(model.prior(), nan=0.25)
    for link, mass in (('arm', 5.0), ('hand', hand_mass)):
        first = [item.name for item in model.parameters].index(f'{link}.m')
        values[first : first + 10] = [mass, 0.3, 0.1, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    return model, values


def others(text):
    """The text without what may differ, and without white space between elements."""
    head, tail = text[: text.index('<gazebo')], text[text.index('<gazebo') :]
    for pattern in (r'<inertial>.*?</inertial>', r'<dynamics .*?>(</dynamics>)?'):
        head = re.sub(pattern, '', head, flags=re.DOTALL)
    head = re.sub(r'<!-- inertial: .*?-->', '', head, flags=re.DOTALL)
    head = head.replace('<link name="base">\n  </link>', '<link name="base"/>')
    return re.sub(r'>\s+<', '><', head) + tail


def total(xml, link):
    """Pseudo-inertia of a link of a file, with the finger's where it is."""
    root = ET.fromstring(xml)
    model = robot_model(ET.tostring(root, encoding='unicode'), joints=JOINTS, friction=())
    first = [item.name for item in model.parameters].index(f'{link}.m')
    return pseudo_inertia(np.nan_to_num(model.prior())[first : first + 10])


@pytest.mark.parametrize('newline', ['\n', '\r\n'])
def test_only_inertials_and_dynamics_change(newline):
    given = URDF.replace('\n', newline)
    model, values = identified(given)
    text = update_urdf(model, values)
    assert others(text) == others(given)
    assert text.count('\r\n') == (text.count('\n') if newline == '\r\n' else 0)
    root = ET.fromstring(text)
    links = {link.get('name'): link for link in root.findall('link')}
    assert links['hand'][0].tag == 'inertial', 'it had none'
    assert links['tool-- '].find('inertial') is None and len(links['base']) == 0
    first, second = (joint.find('dynamics') for joint in root.findall('joint')[:2])
    assert first.attrib == {'spring_reference': '0.5', 'damping': '0.25', 'friction': '0.25'}
    assert second.attrib == {'damping': '0.25', 'friction': '0.25'}
    assert '<!-- inertial: it is included in that of hand -->' in text
    assert 'includes what is fixed to this link: tool- - ' in text
    # what the model identified is in the file, with the finger, which keeps its own
    assert float(links['finger'].find('inertial/mass').get('value')) == 0.3
    for link, mass in (('arm', 5.0), ('hand', 2.0)):
        expected = pseudo_inertia(np.array([mass, 0.3, 0.1, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]))
        np.testing.assert_allclose(total(text, link), expected, atol=1e-12)
    assert pin.buildModelFromXML(text).nq == 3
    again, same = identified(text)
    assert others(update_urdf(again, same)) == others(text)


def test_a_finger_that_would_leave_too_little_is_included():
    model, values = identified(URDF, hand_mass=0.2)
    text = update_urdf(model, values)
    assert '<!-- inertial: it is included in that of hand -->' in text.split('name="finger"')[1]
    assert others(text) == others(URDF)


def test_inertials_for_xacro_are_those_of_the_urdf():
    model, values = identified(URDF)
    found = yaml.safe_load(inertials_yaml(model, values))
    assert list(found) == ['arm', 'hand']
    root = ET.fromstring(update_urdf(model, values))
    for link in root.findall('link'):
        if link.get('name') in found:
            inertial, entry = link.find('inertial'), found[link.get('name')]
            assert float(inertial.find('mass').get('value')) == entry['mass']
            assert inertial.find('origin').get('xyz') == entry['origin']['xyz']
            moments = {key[1:]: float(v) for key, v in inertial.find('inertia').items()}
            assert moments == entry['inertia']


def test_entities_and_depth_are_bounded():
    bomb = '<!DOCTYPE robot [<!ENTITY a "<link name=\'x\'/>">]>'
    text = URDF.replace('<robot', f'{bomb}<robot', 1)
    model, values = identified(text)
    assert 'DOCTYPE' not in update_urdf(model, values)  # links and joints only
    with pytest.raises(IdentificationError, match='has a DOCTYPE'):
        UrdfText(text)
    with pytest.raises(IdentificationError, match='nesting of XML: at most 100'):
        UrdfText('<robot>' + '<a>' * 200 + '</a>' * 200 + '</robot>')
    with pytest.raises(IdentificationError, match='the URDF cannot be changed'):
        UrdfText('<robot><link></robot>')
