# SPDX-License-Identifier: Apache-2.0
"""Topics and fields in the files for RViz, rqt, PlotJuggler and Foxglove."""

import ast
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import yaml

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / 'config'
TYPES = {
    '/collision_monitor/collision_state': 'robodyn_ros/msg/CollisionState',
    '/collision_monitor/torque_error': 'sensor_msgs/msg/JointState',
    '/feedforward/additive_torque': 'sensor_msgs/msg/JointState',
    '/feedforward/torque_state': 'robodyn_ros/msg/TorqueState',
    '/joint_states': 'sensor_msgs/msg/JointState',
    '/excitation/path': 'visualization_msgs/msg/Marker',
    '/watch/markers': 'visualization_msgs/msg/MarkerArray',
    '/collision_monitor/contact_marker': 'visualization_msgs/msg/Marker',
    '/collision_monitor/wrench': 'geometry_msgs/msg/WrenchStamped',
}
OTHERS = {'/diagnostics', '/robot_description'}
"""Published by all nodes, and by robot_state_publisher."""


def plotjuggler() -> set[str]:
    found = set()
    for file in (CONFIG / 'plotjuggler').iterdir():
        root = ElementTree.parse(file).getroot()
        curves = {curve.get('name') for curve in root.iter('curve')}
        chosen = {topic.get('name') for topic in root.iter('topic')}
        assert curves and {topic_of(curve) for curve in curves} == chosen
        found |= curves
    return found


def foxglove() -> set[str]:
    content = json.loads((CONFIG / 'foxglove' / 'robodyn.json').read_text())
    panels = content['configById']
    assert panels.keys() == set(re.findall(r'\w+!\w+', json.dumps(content['layout'])))
    paths = {path['value'] for panel in panels.values() for path in panel.get('paths', ())}
    paths |= {panel['topicPath'] for panel in panels.values() if 'topicPath' in panel}
    topics = set(re.findall(r'"(/[\w/]+)"', json.dumps(panels)))
    return topics | {path.replace('.', '/') for path in paths}


def rqt() -> set[str]:
    content = json.loads((CONFIG / 'rqt' / 'robodyn.perspective').read_text())
    manager = content['groups']['pluginmanager']
    running = ast.literal_eval(manager['keys']['running-plugins']['repr'])
    found = set()
    for name, group in manager['groups'].items():
        _, package, kind, number = name.split('__')
        assert int(number) in running[f'{package}/{kind}']
        found |= set(ast.literal_eval(group['groups']['plugin']['keys']['topics']['repr']))
    return found


def rviz() -> dict[str, dict[str, str]]:
    """Topics of RViz and how each is subscribed."""
    displays = yaml.safe_load((ROOT / 'rviz' / 'robodyn.rviz').read_text())
    displays = displays['Visualization Manager']['Displays']
    topics = [each.get('Topic') or each.get('Description Topic') for each in displays]
    return {topic['Value']: topic for topic in topics if topic}


def rviz_namespaces() -> set[str]:
    """Namespaces of markers in the RViz file."""
    displays = yaml.safe_load((ROOT / 'rviz' / 'robodyn.rviz').read_text())
    displays = displays['Visualization Manager']['Displays']
    return {name for each in displays for name in each.get('Namespaces', ())}


READERS = (plotjuggler, foxglove, rqt, rviz)


def path_of(path: str) -> str:
    """Field of a message: PlotJuggler puts the name of a joint before those of joint states."""
    return re.sub(r'/joint\d/(\w+)$', r'/\1', path)


def topic_of(path: str) -> str:
    return max(
        (topic for topic in TYPES | dict.fromkeys(OTHERS) if path.startswith(topic)), key=len
    )
