# SPDX-License-Identifier: Apache-2.0
"""torque_threshold of the plugin without a collision monitor, on the real ros2_control.

The hardware names its joints in another order than the model. The mock reports the additive torque
as measured.
"""

import numpy as np
import pytest
from control_cell import JOINTS, PLUGIN, ControlCell, write_result
from control_checks import BOTH, check_steps
from controller_build import law_check

pytestmark = pytest.mark.ros
WATCHED = 1
SHARE = 0.5
"""Threshold of the watched joint, as a share of the torque that holds the robot there."""


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('threshold')
    model, values, file = write_result(folder)
    weight = model.torque(*np.zeros((3, 1, 6)), values)[0]
    threshold = np.full(6, 1000.0)
    threshold[WATCHED] = SHARE * abs(weight[WATCHED])
    parameters = {'joints': JOINTS[::-1], 'torque_threshold': threshold[::-1].tolist()}
    with ControlCell(folder, file, number=33, parameters=parameters) as cell:
        cell.threshold = threshold[WATCHED]
        yield cell


def test_the_joint_beyond_its_own_threshold_takes_the_torque_away_and_is_named(cell):
    cell.wait(lambda: cell.cycles and cell.last.fault, 'the fault')
    assert cell.last.fault == 'a measured or additive torque is beyond torque_threshold'
    cell.go_on(0.3)
    assert not np.any(cell.last.applied)
    largest = max(abs(cycle.applied[WATCHED]) for cycle in cell.cycles.values())
    assert largest < 1.2 * cell.threshold  # it ramped in, and was stopped on the way
    check_steps(cell)
    cell.diagnoses.clear()
    cell.wait(lambda: cell.diagnoses, 'diagnostics')
    told = {item.key: item.value for item in cell.diagnoses[-1].values}['beyond torque_threshold']
    joint, _, torque = told.partition(', ')
    assert joint == JOINTS[WATCHED]
    assert cell.threshold < abs(float(torque)) < 1.2 * cell.threshold
    cell.wait(lambda: f'beyond torque_threshold: {joint}' in cell.log(), 'the line of the log')


def test_it_is_a_fault_again_after_a_reset(cell):
    assert cell.reset().message.startswith('cleared: a measured or additive torque')
    cell.go_on(0.1)
    assert not cell.last.fault
    cell.clear()
    assert cell.enable(True).success
    cell.wait(lambda: cell.last.fault, 'the fault again')
    cell.go_on(0.3)
    assert not np.any(cell.last.applied)
    check_steps(cell)
    cell.switch(deactivate=BOTH)
    assert cell.state_of(PLUGIN) == 'inactive'


@pytest.mark.parametrize('value', [0.0, -1.0])
def test_a_threshold_that_is_not_above_zero_is_refused(cell, value):
    name = f'refused_{"zero" if value == 0.0 else "negative"}'
    assert not (cell.load(name, {'torque_threshold': [value]}) and cell.configure(name))
    cell.wait(lambda: 'torque_threshold' in cell.log().partition(name)[2], 'the refusal', 5.0)
