# SPDX-License-Identifier: Apache-2.0
"""A joint that the result calls not usable has no torque and no monitor, unless it is allowed."""

import numpy as np
import pytest
from collision_client import COLLISION, OK, UNKNOWN, Monitor, levels
from diagnostic_msgs.msg import DiagnosticStatus
from feedforward_client import COMMON, MODEL, NAMES, VALUES, Trajectories, arrays, message
from node_process import NodeProcess, closed
from ros_client import details
from writers import result_file

pytestmark = pytest.mark.ros


def planned(folder, number, **options):
    """Largest torques of a short motion, (n,), and the diagnostics."""
    (folder / 'planned').mkdir()  # it writes a result too
    with closed(Trajectories(folder / 'planned', number, **options)) as node:
        torque = arrays(node.sent(message()))[4]
        return np.abs(torque).max(axis=0), node.process.status(), node.process.said()


def test_it_gets_no_torque_and_the_node_says_so(tmp_path):
    path = result_file(tmp_path, MODEL, VALUES, bad=[NAMES[1]])
    torque, status, log = planned(tmp_path, 2, result_file=path)
    assert torque[0] > 1.0 and torque[1] == 0.0
    text = f'joint {NAMES[1]} is not usable, it gets no torque'
    assert f'{text} (because)' in log and text in status.message
    assert status.level == DiagnosticStatus.WARN and details(status)['not_usable'] == NAMES[1]


def test_it_is_allowed_by_name(tmp_path):
    path = result_file(tmp_path, MODEL, VALUES, bad=[NAMES[1]])
    allowed = f'[{NAMES[1]}]'
    torque, status, _ = planned(tmp_path, 2, result_file=path, allowed_joints=allowed)
    assert torque.min() > 0.0 and status.level == DiagnosticStatus.OK


@pytest.mark.parametrize(
    ('bad', 'allowed', 'text'),
    [
        (NAMES, '', 'has no usable joint (because)'),
        ([], '[elbow]', "cannot be configured: allowed_joints: 'elbow' is no joint of the model"),
    ],
)
def test_a_result_without_a_usable_joint_is_refused(bad, allowed, text, tmp_path):
    values = {**COMMON, 'result_file': result_file(tmp_path, MODEL, VALUES, bad=bad)}
    values |= {'allowed_joints': allowed} if allowed else {}
    with closed(NodeProcess('feedforward', 3, tmp_path / 'log', values)) as process:
        process.wait(lambda: text in process.diagnostics[-1].status[0].message, text)


def test_the_verdict_of_a_result_that_is_loaded_as_parameters_counts_too(tmp_path):
    path = result_file(tmp_path, MODEL, VALUES, bad=NAMES)
    values, log = {**COMMON, 'autostart': 'true'}, tmp_path / 'log'
    with closed(NodeProcess('feedforward', 3, log, values, params_file=path)) as process:
        text = 'has no usable joint'
        process.wait(lambda: text in process.diagnostics[-1].status[0].message, text)


@pytest.mark.parametrize('allowed', [False, True])
def test_it_is_never_ok_and_the_monitor_says_so(allowed, tmp_path):
    path = result_file(tmp_path, MODEL, VALUES, bad=[NAMES[1]])
    options = {'allowed_joints': f'[{NAMES[1]}]'} if allowed else {}
    (tmp_path / 'monitor').mkdir()  # it writes a result too
    with closed(Monitor(tmp_path / 'monitor', 4, **options, result_file=path)) as monitor:
        assert (levels(monitor.run(120))[-1] == [OK, OK if allowed else UNKNOWN]).all()
        status, log = monitor.process.status(), monitor.process.said()
        text = f'joint {NAMES[1]} is not usable, it is unmonitored'
        assert (text in log) is (text in status.message) is not allowed
        assert details(status)['not_usable'] == ('' if allowed else NAMES[1])
        good = DiagnosticStatus.OK if allowed else DiagnosticStatus.WARN
        assert status.level == good
        last = levels(monitor.run(20, push=9.0))[-1]
        assert (last == [OK, COLLISION if allowed else UNKNOWN]).all()
