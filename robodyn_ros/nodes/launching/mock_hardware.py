# SPDX-License-Identifier: Apache-2.0
"""A robot description with mock hardware, for trying controllers without a robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from robodyn_ros.errors import ConfigError

MOVING = ('revolute', 'continuous', 'prismatic')
STATES = ('position', 'velocity', 'effort')
COMMANDS = ('position', 'effort')


def with_mock_hardware(path: Path) -> str:
    """Return a URDF text with `<ros2_control>` tags of mock hardware for its moving joints.

    The mock follows position commands immediately and reports the effort command as effort.

    :raises ConfigError: the file cannot be read, or has such tags already
    """
    try:
        robot = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise ConfigError(f'the URDF {path} cannot be read: {error}') from error
    if robot.find('ros2_control') is not None:
        raise ConfigError(f'the URDF {path} already has <ros2_control> tags: use its launch file')
    system = ET.SubElement(robot, 'ros2_control', name='mock', type='system')
    hardware = ET.SubElement(system, 'hardware')
    ET.SubElement(hardware, 'plugin').text = 'mock_components/GenericSystem'
    ET.SubElement(hardware, 'param', name='calculate_dynamics').text = 'true'
    for joint in robot.findall('joint'):
        if joint.get('type') in MOVING and joint.find('mimic') is None:
            _add_joint(system, joint.get('name', ''))
    return ET.tostring(robot, encoding='unicode')


def _add_joint(system: ET.Element, name: str) -> None:
    item = ET.SubElement(system, 'joint', name=name)
    for kind in COMMANDS:
        ET.SubElement(item, 'command_interface', name=kind)
    for kind in STATES:
        state = ET.SubElement(item, 'state_interface', name=kind)
        ET.SubElement(state, 'param', name='initial_value').text = '0.0'
