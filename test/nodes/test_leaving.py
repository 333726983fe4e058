# SPDX-License-Identifier: Apache-2.0
"""A node that ended is gone."""

import signal
import time

import pytest
from node_process import NodeProcess, closed
from rclpy.action import ActionClient
from robodyn_ros.action import Excite, RunIdentification

pytestmark = pytest.mark.ros
ACTIONS = {
    'excitation': (Excite, 'excite', signal.SIGINT),
    'identification': (RunIdentification, 'run_identification', signal.SIGTERM),
}
"""Of the two kinds of executors."""


@pytest.mark.real_time
@pytest.mark.parametrize('name', ACTIONS)
def test_a_node_leaves_the_graph_before_it_is_killed(name, tmp_path):
    kind, action, number = ACTIONS[name]
    with closed(NodeProcess(name, 3, tmp_path / 'log', {'robot': 'six_axis'})) as node:
        client = ActionClient(node.node, kind, f'{name}/{action}')
        node.wait(client.server_is_ready, 'the action')
        begin = time.monotonic()
        assert node.interrupt(number) == 0, node.said()
        # it takes a second, beside other programs longer; 10 s after a signal it would be killed
        assert time.monotonic() - begin < 8.0
        assert not client.server_is_ready()
        client.destroy()
