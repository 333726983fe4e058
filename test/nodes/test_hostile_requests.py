# SPDX-License-Identifier: Apache-2.0
"""Bad messages and requests, sent to running nodes: each is refused, and no node ends."""

import numpy as np
import pytest
from faulty_cell import LIMIT, REFERENCE, STEP, FaultyCell
from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.serialization import serialize_message
from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.srv import Identify, LoadModel, StartRecording, StopRecording
from ros_client import details, steps
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]
NODES = (
    'cell', 'feedforward', 'collision_monitor', 'recorder', 'identification', 'excitation',
)  # fmt: skip
MANAGED = ('feedforward', 'collision_monitor')
NAMES = {'one component of 256 characters': 'n' * 256, '2000 folders': 'd/' * 2000}
JOINTS = ['joint1', 'joint2']
STATE = JointState(name=JOINTS, position=[0.1, 0.2], velocity=[0.0, 0.0], effort=[1.0, 2.0])
POINTS = JointTrajectory(joint_names=JOINTS, points=[JointTrajectoryPoint(positions=[0.1, 0.2])])
MESSAGES = {
    REFERENCE: (STATE, 'feedforward'),
    'joint_states': (STATE, 'collision_monitor'),
    'joint_trajectory_controller/joint_trajectory': (POINTS, 'cell'),
    'forward_position_controller/commands': (Float64MultiArray(data=[0.1, 0.2]), ''),
    'forward_effort_controller/transition_event': (TransitionEvent(timestamp=7), ''),
}
"""Topics with a message that would be good if it were whole, and a node that counts what cannot be
read; '': none needs to. Commands of torque are left out: they are what is checked here.

The middleware hands over any bytes. rclpy raises RMWError where it reads them; a node that takes
them raw refuses what it cannot read itself.
"""


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    cell = None
    try:
        folder = tmp_path_factory.mktemp('hostile')
        robot = {'urdf': folder / 'arm.urdf', 'effort.unit': 'Nm', 'effort.side': 'joint',
                 'effort.gravity': 'included', 'output_directory': folder / 'out'}  # fmt: skip
        others = dict.fromkeys(('recorder', 'identification', 'excitation'), robot)
        cell = FaultyCell(folder, 71, others)
        (folder / 'nested.yaml').write_text('[' * 100_000 + ']' * 100_000)
        # six nodes start at once: on a busy machine that takes a while
        cell.wait(lambda: set(NODES) <= set(cell.diagnostics), 'diagnostics of every node', 120.0)
        cell.move(900.0)
        yield cell
    finally:
        if cell is not None:
            cell.close()


def refused(cell, name):
    """Count of what a node refused or did not expect, by its diagnostics."""
    values = details(cell.diagnostics[name])
    keys = ('refused_requests', 'unexpected_errors', 'refused')
    return sum(int(values.get(key, 0)) for key in keys)


class Attack:
    """Afterwards all nodes answer, some of them count, and torque was bounded throughout."""

    def __init__(self, cell, *names):
        self.cell, self.names = cell, names

    def __enter__(self):
        self.cell.move(900.0)  # anew after a trajectory that was cut where only zeros follow
        self.cell.ready()
        self.before = {name: refused(self.cell, name) for name in self.names}

    def __exit__(self, kind, error, trace):
        if kind is not None:
            return
        cell = self.cell
        for name in NODES:
            cell.call(GetParameters, f'{name}/get_parameters', GetParameters.Request())
        for name, count in self.before.items():
            cell.wait(lambda name=name, count=count: refused(cell, name) > count,
                      f'the count of {name}')  # fmt: skip
        rows = cell.commands
        commands = np.array([row.message for row in rows])
        assert np.isfinite(commands).all() and (np.abs(commands) <= LIMIT).all()
        change, between = steps(rows, lambda row: row)
        assert (np.abs(change) <= STEP * between * (1 + 1e-9)).all()
        if not cell.state.enabled:
            assert cell.state.fault, 'torque went to zero, and why'


def answered(cell, kind, service, request):
    answer = cell.call(kind, service, request)
    assert answer.success is False
    if hasattr(answer, 'message'):
        assert answer.message and '\n' not in answer.message
        return answer.message
    return ''


@pytest.mark.parametrize('name', NAMES)
def test_a_path_that_no_file_can_have(cell, name):
    path = NAMES[name]
    with Attack(cell, 'identification', 'recorder', 'excitation', 'feedforward'):
        for wish in (
            Identify.Request(recording=path),
            Identify.Request(recording=str(cell.folder), output_directory=path),
            Identify.Request(recording=str(cell.folder), validation_recording=path),
        ):
            assert 'unexpected' not in answered(cell, Identify, 'identification/identify', wish)
        wish = StartRecording.Request(recording=path)
        assert 'unexpected' not in answered(cell, StartRecording, 'recorder/start', wish)
        for node in MANAGED:
            wish = LoadModel.Request(result_file=path)
            answered(cell, LoadModel, f'{node}/load_model', wish)
        assert 'unexpected' not in goal(cell, Excite, 'excitation/excite', motion_file=path)
        run = 'identification/run_identification'
        assert 'unexpected' not in goal(cell, RunIdentification, run, motion_file=path)
        assert 'unexpected' not in goal(cell, RunIdentification, run, output_directory=path)


def goal(cell, kind, name, **fields):
    """Message of the result of a goal without success."""
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


@pytest.mark.parametrize('way', ['outside', 'above', 'link', 'hidden'])
def test_a_path_outside_the_allowed_folders(cell, way):
    places = {
        'outside': '/etc/passwd',
        'above': f'{cell.folder}/{"../" * 30}etc/passwd',
        'link': str(cell.folder / 'link' / 'passwd'),
        'hidden': str(cell.folder / '.ssh' / 'id_rsa'),
    }
    if way == 'link':
        (cell.folder / 'link').symlink_to('/etc')
    path, real = places[way], places['hidden' if way == 'hidden' else 'outside']
    answers = []
    with Attack(cell, 'identification', 'recorder', 'excitation', 'feedforward'):
        here = str(cell.folder)
        for wish in (
            Identify.Request(recording=path),
            Identify.Request(recording=here, output_directory=path),
            Identify.Request(recording=here, validation_recording=path),
            Identify.Request(recording=here, ident_payload=True, base_result=path),
        ):
            answers.append(answered(cell, Identify, 'identification/identify', wish))
        wish = StartRecording.Request(recording=path)
        answers.append(answered(cell, StartRecording, 'recorder/start', wish))
        for node in MANAGED:
            wish = LoadModel.Request(result_file=path)
            answers.append(answered(cell, LoadModel, f'{node}/load_model', wish))
        for field in ('motion_file', 'output_directory'):
            answers.append(goal(cell, Excite, 'excitation/excite', **{field: path}))
        run = 'identification/run_identification'
        for field in ('motion_file', 'validation_motion_file', 'base_result', 'output_directory'):
            answers.append(goal(cell, RunIdentification, run, **{field: path}))
        answers.append(changed(cell, 'excitation', 'motion_file', path))
        answers.append(changed(cell, 'collision_monitor', 'result_file', path))
    for text in answers:
        assert real in text and 'allowed_directories' in text, text


def changed(cell, node, name, text):
    """Reason why a node refuses another value of a parameter."""
    result = cell.set_parameter(node, name, text)
    assert not result.successful
    return result.reason


@pytest.mark.parametrize('topic', MESSAGES)
def test_a_truncated_message(cell, topic):
    message, node = MESSAGES[topic]
    whole = serialize_message(message)
    with Attack(cell, *filter(None, [node])):
        publisher = cell.publisher(type(message), topic, 'feedforward')
        for length in (len(whole) - 9, len(whole) // 2, 5, 4):
            publisher.publish(whole[:length])
        # counts of sequences that claim more than there is
        publisher.publish(whole[:16] + b'\xff\xff\xff\x7f' + whole[20:])
        for name in NODES:
            cell.known_to(name)
        cell.node.destroy_publisher(publisher)


@pytest.mark.parametrize('node', MANAGED)
def test_a_transition_that_is_not_possible_or_unknown(cell, node):
    with Attack(cell, node):
        for transition in (
            Transition(id=Transition.TRANSITION_CONFIGURE),
            Transition(id=Transition.TRANSITION_CLEANUP),
            Transition(id=77),
            Transition(id=255),
            Transition(label='nonsense'),
        ):
            request = ChangeState.Request(transition=transition)
            answered(cell, ChangeState, f'{node}/change_state', request)
        state = cell.call(GetState, f'{node}/get_state', GetState.Request())
        assert state.current_state.label == 'active'


def test_a_parameter_of_a_type_that_there_is_not(cell):
    with Attack(cell, *NODES):
        for node in NODES:
            bad = [Parameter(name='use_sim_time', value=ParameterValue(type=99))]
            request = SetParameters.Request(parameters=bad * 2)
            results = cell.call(SetParameters, f'{node}/set_parameters', request).results
            assert [result.successful for result in results] == [False, False]
            assert '99' in results[0].reason
            request = SetParametersAtomically.Request(parameters=bad)
            name = f'{node}/set_parameters_atomically'
            result = cell.call(SetParametersAtomically, name, request).result
            assert not result.successful and '99' in result.reason


def test_a_negative_clock(cell):
    nodes = [name for name in NODES if name != 'cell']
    with Attack(cell):
        publisher = cell.publisher(Clock, '/clock', nodes[-1])
        clock = Clock()
        clock.clock.sec = -5
        for node in nodes:
            cell.known_to(node)
        for message in (serialize_message(clock)[:7], clock):
            publisher.publish(message)
        cell.node.destroy_publisher(publisher)
    for node in nodes:
        cell.wait(
            lambda node=node: any('on /clock' in v.value for v in cell.diagnostics[node].values),
            f'the refusal of {node}',
        )


def test_another_clock(cell):
    with Attack(cell):
        for node in NODES:
            answer = cell.set_parameter(node, 'use_sim_time', node == 'cell')
            assert not answer.successful and 'is read at the start only' in answer.reason


def test_yaml_that_is_nested_too_deeply(cell):
    path = str(cell.folder / 'nested.yaml')
    with Attack(cell):
        run = 'identification/run_identification'
        wishes = {'ident_payload': True, 'base_result': path}
        assert 'nesting of YAML' in goal(cell, RunIdentification, run, **wishes)

        def change(number):
            request = ChangeState.Request(transition=Transition(id=number))
            return cell.call(ChangeState, 'collision_monitor/change_state', request).success

        assert change(Transition.TRANSITION_DEACTIVATE)
        wish = LoadModel.Request(result_file=path)
        text = answered(cell, LoadModel, 'collision_monitor/load_model', wish)
        assert 'nesting of YAML' in text
        assert change(Transition.TRANSITION_ACTIVATE)


def test_every_node_still_does_its_work(cell):
    cell.ready()
    wish = StartRecording.Request(recording=str(cell.folder / 'last'))
    assert (answer := cell.call(StartRecording, 'recorder/start', wish)).success, answer.message
    cell.spin(0.3)
    assert cell.call(StopRecording, 'recorder/stop', StopRecording.Request()).messages > 10
    assert all(process.poll() is None for process in cell.processes.values())
