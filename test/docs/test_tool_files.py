# SPDX-License-Identifier: Apache-2.0
"""Files for RViz, rqt, PlotJuggler, Foxglove and the diagnostics aggregator.

Every topic in them is published according to docs/architecture.md, and every field exists in the
definition of its message.
"""

import ast
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

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


def rows() -> dict[str, str]:
    """Published topics of each node in the table of docs/architecture.md."""
    text = (ROOT / 'docs' / 'architecture.md').read_text(encoding='utf-8')
    table = text.partition('| node | subscribes | publishes')[2].partition('\n\n')[0]
    cells = [line.split('|') for line in table.splitlines() if line.startswith('| `')]
    return {row[1].split('`')[1]: row[3] for row in cells}


def store():
    made = get_typestore(Stores.ROS2_JAZZY)
    for name in ('CollisionState', 'TorqueState'):
        kind = f'robodyn_ros/msg/{name}'
        made.register(get_types_from_msg((ROOT / 'msg' / f'{name}.msg').read_text(), kind))
    return made


STORE = store()


def plotjuggler() -> set[str]:
    found = set()
    for file in (CONFIG / 'plotjuggler').iterdir():
        root = ElementTree.parse(file).getroot()
        curves = {curve.get('name') for curve in root.iter('curve')}
        chosen = {topic.get('name') for topic in root.iter('topic')}
        assert curves and {topic_of(curve) for curve in curves} == chosen
        found |= {re.sub(r'/joint\d/(\w+)$', r'/\1', curve) for curve in curves}
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


def rviz() -> set[str]:
    displays = yaml.safe_load((ROOT / 'rviz' / 'robodyn.rviz').read_text())
    displays = displays['Visualization Manager']['Displays']
    topics = [each.get('Topic') or each.get('Description Topic') for each in displays]
    return {topic['Value'] for topic in topics if topic}


def topic_of(path: str) -> str:
    return max(
        (topic for topic in TYPES | dict.fromkeys(OTHERS) if path.startswith(topic)), key=len
    )


@pytest.mark.parametrize('read', [plotjuggler, foxglove, rqt, rviz])
def test_topics_are_published_and_fields_exist(read):
    published = {
        full
        for node, cell in rows().items()
        for name in re.findall(r'`([\w/]+)`', cell)
        for full in (f'/{name}', f'/{node}/{name}')  # the node is left out where it is clear
    }
    found = read()
    assert len(found) >= 3
    for path in found:
        topic = topic_of(path)
        assert topic in published | OTHERS, path
        if field := path[len(topic) + 1 :]:
            name, _, index = field.partition('[')
            kind = dict(STORE.get_msgdef(TYPES[topic]).fields)[name]
            assert bool(index) <= (kind[0].name in ('ARRAY', 'SEQUENCE')), path


def test_each_node_is_in_one_group_of_the_aggregator():
    content = yaml.safe_load((CONFIG / 'diagnostics_aggregator.yaml').read_text())
    groups = content['/**']['ros__parameters']
    starts = [
        name
        for group in groups.values()
        if isinstance(group, dict)
        for name in group['startswith']
    ]
    assert sorted(starts) == sorted(rows())


def test_rviz_of_a_namespace_gets_all_its_topics():
    pytest.importorskip('launch_ros', reason='launch_ros is not installed (it comes with ROS 2)')
    from robodyn_ros.nodes.launching.viewers import RVIZ_TOPICS

    assert {f'/{topic}' for topic in RVIZ_TOPICS} == rviz()
