# SPDX-License-Identifier: Apache-2.0
"""A node that ended is gone, and one that runs tells all its parameters."""

import signal
import time

import pytest
import yaml
from node_process import NodeProcess, closed
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.action import ActionClient
from rclpy.parameter import parameter_value_to_python
from robodyn_ros.action import Excite, RunIdentification

pytestmark = pytest.mark.ros
NODES = ('excitation', 'identification', 'feedforward')
"""Two with an action and one with a lifecycle; all have the same base."""
ACTIONS = {
    'excitation': (Excite, 'excite'),
    'identification': (RunIdentification, 'run_identification'),
}


def started(name, number, log, given=None, **parameters):
    port = {'port': 0} if name == 'watch' else {}
    return closed(NodeProcess(name, number, log, {**parameters, **port}, given))


def parameters_of(node):
    """All parameters and their values, as `ros2 param dump` asks for them."""
    names = sorted(
        node.call(ListParameters, 'list_parameters', ListParameters.Request()).result.names
    )
    request = GetParameters.Request(names=names)
    values = node.call(GetParameters, 'get_parameters', request).values
    assert len(values) == len(names) > 0
    return dict(zip(names, map(parameter_value_to_python, values), strict=True))


@pytest.mark.real_time
@pytest.mark.parametrize(
    ('name', 'number'),
    [('excitation', signal.SIGINT), ('identification', signal.SIGTERM), ('watch', signal.SIGINT)],
)
def test_a_node_leaves_the_graph_before_it_is_killed(name, number, tmp_path):
    with started(name, 3, tmp_path / 'log', robot='six_axis') as node:
        if name in ACTIONS:
            kind, action = ACTIONS[name]
            client = ActionClient(node.node, kind, f'{name}/{action}')
            node.wait(client.server_is_ready, 'the action')
        begin = time.monotonic()
        assert node.interrupt(number) == 0, node.said()
        # it takes a second, beside other programs longer; 10 s after a signal it would be killed
        assert time.monotonic() - begin < 8.0
        if name in ACTIONS:
            assert not client.server_is_ready()
            client.destroy()


@pytest.mark.parametrize('name', NODES)
def test_all_parameters_are_told_and_can_be_given_again(name, tmp_path):
    with started(name, 4, tmp_path / 'log', robot='six_axis') as node:
        values = parameters_of(node)
        assert node.interrupt() == 0, node.said()
    assert values.pop('planning_scene_service', '') in (
        '',
        'get_planning_scene',
    )  # MoveIt, if given
    dump = tmp_path / 'dump.yaml'  # null where there is no value
    dump.write_text(yaml.safe_dump({f'/{name}': {'ros__parameters': values}}))
    with started(name, 5, tmp_path / 'again', dump) as node:
        assert parameters_of(node).items() >= values.items()
        assert node.interrupt(signal.SIGTERM) == 0, node.said()
