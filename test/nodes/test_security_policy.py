# SPDX-License-Identifier: Apache-2.0
"""The permissions shipped for SROS2, and all nodes of the suite as they run.

The wheels have no DDS security: what is enforced is shown on a ROS 2 with SROS2 only.
"""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from faulty_cell import FaultyCell
from rclpy.action.graph import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]
ROBOT = {'robot': 'six_axis'}
AT_TIMES = {
    'excitation': {
        ('publish', '/forward_position_controller/commands'),  # output: stream
        ('publish', '/feedforward/joint_trajectory'),  # command_topic
        ('subscribe', '/identification/presence'),  # while its client waits
        ('subscribe', '/robot_description'),  # without urdf
        ('request', '/get_planning_scene'),  # with moveit_msgs
    },
    'recorder': {
        ('subscribe', '/joint_states'),  # while it records
        ('subscribe', '/identification/presence'),
    },
    'identification': {  # while it brakes the robot
        ('publish', '/joint_trajectory_controller/joint_trajectory'),
        ('subscribe', '/joint_states'),
        ('subscribe', '/robot_description'),  # without urdf
    },
    'feedforward': {
        ('execute', '/feedforward/follow_joint_trajectory'),  # with control_msgs
        ('call', '/joint_trajectory_controller/follow_joint_trajectory'),
    },
    'collision_monitor': {
        ('subscribe', '/collision_monitor/reference'),  # motion_source: reference
        ('request', '/excitation/stop'),  # stop_service
        ('publish', '/joint_trajectory_controller/joint_trajectory'),  # reaction: stop
        ('request', '/joint_trajectory_controller/follow_joint_trajectory/_action/cancel_goal'),
    },
    'cell': set(),
    'watch': {
        ('subscribe', '/joint_states'),  # while there is no feed-forward
        ('subscribe', '/excitation/excite/_action/feedback'),  # hidden names are not listed
        ('subscribe', '/identification/run_identification/_action/feedback'),
    },
}
"""Names that a node has with some parameters, or for a time."""


FILE = Path(__file__).resolve().parents[2] / 'config' / 'security' / 'policy.xml'
VERBS = ('publish', 'subscribe', 'reply', 'request', 'execute', 'call')


def permissions() -> dict[str, set[tuple[str, str]]]:
    """Verb and full name of everything that each node is allowed."""
    found = {}
    for enclave in ET.parse(FILE).getroot().iter('enclave'):
        (profile,) = enclave.iter('profile')
        assert enclave.get('path') == f'/robodyn/{profile.get("node")}'
        rows = found[profile.get('node')] = set()
        for group in profile:
            ((verb, allowed),) = group.attrib.items()
            assert verb in VERBS and allowed == 'ALLOW'
            names = [f'/{item.text}' for item in group]
            assert len(names) == len(set(names)) and not rows & {(verb, name) for name in names}
            rows |= {(verb, name) for name in names}
    return found


def used(node, name: str) -> set[tuple[str, str]]:
    """Verb and full name of everything that a running node has, as another node sees it."""
    actions = {
        'execute': get_action_server_names_and_types_by_node(node, name, '/'),
        'call': get_action_client_names_and_types_by_node(node, name, '/'),
    }
    others = {
        'publish': node.get_publisher_names_and_types_by_node(name, '/'),
        'subscribe': node.get_subscriber_names_and_types_by_node(name, '/'),
        'reply': node.get_service_names_and_types_by_node(name, '/'),
        'request': node.get_client_names_and_types_by_node(name, '/'),
    }
    parts = tuple(f'{action}/_action/' for rows in actions.values() for action, _ in rows)
    found = {(verb, action) for verb, rows in actions.items() for action, _ in rows}
    return found | {
        (verb, each)
        for verb, rows in others.items()
        for each, _ in rows
        if not each.startswith(parts or '\0')
    }


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    cell = None
    try:
        others = dict.fromkeys(('recorder', 'identification', 'excitation'), ROBOT)
        others['watch'] = {**ROBOT, 'port': 0}
        cell = FaultyCell(tmp_path_factory.mktemp('policy'), 72, others)
        cell.wait(lambda: set(AT_TIMES) <= set(cell.diagnostics), 'all nodes', 120.0)
        yield cell
    finally:
        if cell is not None:
            cell.close()


@pytest.mark.parametrize('name', AT_TIMES)
def test_a_node_has_exactly_what_it_is_allowed(cell, name):
    allowed = permissions()[name]
    always = allowed - AT_TIMES[name]
    assert AT_TIMES[name] <= allowed
    cell.wait(lambda: always <= named(cell, name), f'{always - named(cell, name)}')
    assert named(cell, name) <= allowed


def named(cell, name):
    """Return the topics of a node."""
    found = used(cell.node, name)
    if name == 'watch':  # a second node in its process, see nodes/watch/taps.py
        taps = used(cell.node, '_watch_taps')
        found |= {row for row in taps if row[0] != 'call'}  # rclpy takes the feedback for that
    return found


def test_the_operator_is_allowed_only_what_a_node_offers():
    rows = permissions()
    partner = {'request': 'reply', 'call': 'execute', 'subscribe': 'publish'}
    offered = {row for name, node in rows.items() if name != 'operator' for row in node}
    for verb, name in rows['operator']:
        if verb in partner and name != '/clock':
            assert (partner[verb], name) in offered, name
    assert not any('parameters' in name for verb, name in rows['operator'] if verb == 'request')
