# SPDX-License-Identifier: Apache-2.0
"""torque_threshold of the plugin on the real ros2_control.

The hardware names its joints in another order than the model. A forward_command_controller
commands the effort that the mock hardware reports as measured.
"""

import numpy as np
import pytest
from control_cell import JOINTS, PLUGIN, ControlCell, write_result
from control_checks import BOTH, check_real_time, check_steps, diagnostics
from controller_build import law_check
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros
WATCHED, EFFORT, THRESHOLD = 1, 'measured_effort', 500.0
"""Threshold of the watched joint, above the additive torque that is possible."""


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('threshold')
    *_, file = write_result(folder)
    threshold = np.full(6, 2.0 * THRESHOLD)
    threshold[WATCHED] = THRESHOLD
    parameters = {
        'joints': JOINTS[::-1], 'torque_threshold': threshold[::-1].tolist(),
        'effort_interface': 'additive',
    }  # fmt: skip
    with ControlCell(folder, file, number=33, parameters=parameters, command='additive') as cell:
        change = {'joints': JOINTS, 'interface_name': 'effort'}
        assert cell.load(EFFORT, change, 'forward_command_controller/ForwardCommandController')
        assert cell.configure(EFFORT)
        cell.switch(deactivate=BOTH)  # the mock starts no joint without its position
        cell.switch(activate=[EFFORT, *BOTH])
        cell.feedback = cell.node.create_publisher(Float64MultiArray, f'{EFFORT}/commands', 1)
        cell.wait(cell.feedback.get_subscription_count, 'the effort controller')
        yield cell


def measure(cell, torque):
    """Let each drive report this torque."""
    cell.feedback.publish(Float64MultiArray(data=[torque] * 6))
    cell.wait(lambda: np.all(cell.effort == torque), 'the measured efforts')


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_measured_torque_beyond_it_takes_the_torque_away_until_reset(cell, sign):
    measure(cell, 0.9 * sign * THRESHOLD)
    cell.reset()
    assert cell.enable(True).success
    cell.go_on(0.5)
    assert np.abs(cell.last.applied).max() > 10.0 and not cell.last.fault
    cell.clear()
    measure(cell, 1.1 * sign * THRESHOLD)
    cell.wait(lambda: cell.last.fault, 'the fault')
    assert cell.last.fault == 'a measured or additive torque is beyond torque_threshold'
    cell.go_on(0.3)
    assert not np.any(cell.last.applied)
    check_steps(cell)
    refused = cell.enable(True)
    assert not refused.success and 'torque_threshold' in refused.message
    joint, _, torque = diagnostics(cell)['beyond torque_threshold'].partition(', ')
    assert joint == JOINTS[WATCHED] and float(torque) == pytest.approx(1.1 * sign * THRESHOLD)
    cell.wait(lambda: f'beyond torque_threshold: {joint}' in cell.log(), 'the line of the log')
    assert cell.reset().message.startswith('cleared: a measured or additive torque')
    cell.go_on(0.1)
    assert not cell.last.fault  # no torque is applied: no fault
    cell.clear()
    assert cell.enable(True).success
    cell.wait(lambda: cell.last.fault, 'the fault again')


def test_no_update_of_all_these_allocated_or_waited(cell):
    check_real_time(cell)
    cell.switch(deactivate=BOTH)
    assert cell.state_of(PLUGIN) == 'inactive'
