# SPDX-License-Identifier: Apache-2.0
"""All nodes of the suite as they run: permissions shipped for SROS2, and paths in requests.

The wheels have no DDS security: what is enforced is shown on a ROS 2 with SROS2 only. Of paths in
requests only files in the allowed folders become files, and no node ends.
"""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from faulty_cell import FaultyCell
from rclpy.action import ActionClient
from rclpy.action.graph import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.srv import Identify, LoadModel, StartRecording

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]
NAMES = {'one component of 256 characters': 'n' * 256, '2000 folders': 'd/' * 2000}
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
        folder = tmp_path_factory.mktemp('nodes')
        robot = {'urdf': folder / 'arm.urdf', 'effort.unit': 'Nm', 'effort.side': 'joint',
                 'effort.gravity': 'included', 'output_directory': folder / 'out'}  # fmt: skip
        others = dict.fromkeys(('recorder', 'identification', 'excitation'), robot)
        others['watch'] = {**robot, 'port': 0}
        cell = FaultyCell(folder, 72, others, period=0.01)
        # seven nodes start at once: on a busy machine that takes a while
        cell.wait(lambda: set(AT_TIMES) <= set(cell.diagnostics), 'all nodes', 120.0)
        yield cell
        assert all(process.poll() is None for process in cell.processes.values())
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


def answered(cell, kind, service, **fields):
    """Sentence of the refusal of a request."""
    answer = cell.call(kind, service, kind.Request(**fields))
    assert answer.success is False and answer.message and '\n' not in answer.message
    return answer.message


def goal(cell, kind, name, **fields):
    """Sentence of the result of a goal without success."""
    client = ActionClient(cell.node, kind, name)
    try:
        cell.wait(client.server_is_ready, name)
        sent = client.send_goal_async(kind.Goal(**fields))
        cell.wait(sent.done, 'the answer to a goal')
        result = sent.result().get_result_async()
        cell.wait(result.done, 'the result')
    finally:
        client.destroy()
    assert not result.result().result.success
    return result.result().result.message


def refusals(cell, path):
    """Sentences of all requests and goals that name a path."""
    here, identify = str(cell.folder), 'identification/identify'
    yield answered(cell, Identify, identify, recording=path)
    yield answered(cell, Identify, identify, recording=here, output_directory=path)
    yield answered(cell, Identify, identify, recording=here, validation_recording=path)
    yield answered(cell, Identify, identify, recording=here, ident_payload=True, base_result=path)
    yield answered(cell, StartRecording, 'recorder/start', recording=path)
    for node in ('feedforward', 'collision_monitor'):
        yield answered(cell, LoadModel, f'{node}/load_model', result_file=path)
    for field in ('motion_file', 'output_directory'):
        yield goal(cell, Excite, 'excitation/excite', **{field: path})
    for field in ('motion_file', 'validation_motion_file', 'base_result', 'output_directory'):
        run = 'identification/run_identification'
        yield goal(cell, RunIdentification, run, **{field: path})
    for node, name in (('excitation', 'motion_file'), ('collision_monitor', 'result_file')):
        result = cell.set_parameter(node, name, path)
        assert not result.successful
        yield result.reason


@pytest.mark.parametrize('name', NAMES)
def test_a_path_that_no_file_can_have_is_refused(cell, name):
    for text in refusals(cell, NAMES[name]):
        assert 'unexpected' not in text, text


def test_a_path_outside_the_allowed_folders_is_refused(cell):
    """Other ways out: test_allowed_folders.py."""
    (cell.folder / 'link').symlink_to('/etc')
    for text in refusals(cell, str(cell.folder / 'link' / 'passwd')):
        assert '/etc/passwd' in text and 'allowed_directories' in text, text
