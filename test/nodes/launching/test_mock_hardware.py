# SPDX-License-Identifier: Apache-2.0
"""Mock hardware in a robot description."""

import xml.etree.ElementTree as ET

import pytest
from robots import SIX_AXIS

from robodyn_ros.errors import ConfigError
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.nodes.launching.mock_hardware import with_mock_hardware


def test_every_moving_joint_gets_its_interfaces_and_the_robot_stays(tmp_path):
    text = with_mock_hardware(SIX_AXIS)
    system = ET.fromstring(text).find('ros2_control')
    assert system.find('hardware/plugin').text == 'mock_components/GenericSystem'
    names = [joint.get('name') for joint in system.findall('joint')]
    assert names == [f'joint{k}' for k in range(1, 7)]
    for joint in system.findall('joint'):
        assert [i.get('name') for i in joint.findall('command_interface')] == [
            'position',
            'effort',
        ]
        assert len(joint.findall('state_interface')) == 3
    assert (
        UrdfModel.from_xml(text).prior().tolist() == UrdfModel.from_file(SIX_AXIS).prior().tolist()
    )
    again = tmp_path / 'robot.urdf'
    again.write_text(text)
    with pytest.raises(ConfigError, match='already has'):
        with_mock_hardware(again)


def test_a_file_that_is_no_urdf(tmp_path):
    with pytest.raises(ConfigError, match=r'no.urdf cannot be read'):
        with_mock_hardware(tmp_path / 'no.urdf')
