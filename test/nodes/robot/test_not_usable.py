# SPDX-License-Identifier: Apache-2.0
"""A joint that the result calls not usable has no torque and no monitor, unless it is allowed."""

import numpy as np
import pytest
from collision_client import OK, UNKNOWN, Monitor, levels
from diagnostic_msgs.msg import DiagnosticStatus
from feedforward_client import MODEL, NAMES, VALUES, Trajectories, arrays, message
from node_process import closed
from ros_client import details
from writers import result_file

pytestmark = pytest.mark.ros


def test_it_gets_no_torque_and_the_node_says_so(tmp_path):
    path = result_file(tmp_path, MODEL, VALUES, bad=[NAMES[1]])
    (tmp_path / 'node').mkdir()  # it writes a result too
    with closed(Trajectories(tmp_path / 'node', 2, result_file=path)) as node:
        torque = np.abs(arrays(node.sent(message()))[4]).max(axis=0)
        assert torque[0] > 1.0 and torque[1] == 0.0
        text, status = f'joint {NAMES[1]} is not usable, it gets no torque', node.process.status()
        assert f'{text} (because)' in node.process.said() and text in status.message
        assert status.level == DiagnosticStatus.WARN
        assert details(status)['not_usable'] == NAMES[1]


def test_it_is_never_ok_and_the_monitor_says_so_and_one_that_is_allowed_is_monitored(tmp_path):
    path, allowed = result_file(tmp_path, MODEL, VALUES, bad=NAMES), f'[{NAMES[0]}]'
    (tmp_path / 'node').mkdir()
    with closed(Monitor(tmp_path / 'node', 4, allowed_joints=allowed, result_file=path)) as node:
        assert (levels(node.run(120))[-1] == [OK, UNKNOWN]).all()
        status = node.process.status()
        text = f'joint {NAMES[1]} is not usable, it is unmonitored'
        assert text in node.process.said() and text in status.message
        assert details(status)['not_usable'] == NAMES[1] and status.level == DiagnosticStatus.WARN
        assert (levels(node.run(20, push=9.0))[-1] == [OK, UNKNOWN]).all()
