# SPDX-License-Identifier: Apache-2.0
"""Faults of the plugin on the real ros2_control: what trips, how long it stays, what clears it.

Needs controller_manager, joint_trajectory_controller and the built plugin; elsewhere skipped.
"""

import numpy as np
import pytest
from control_cell import PLUGIN, ControlCell, write_result
from control_checks import (
    BOTH,
    Forwarded,
    check_hardware_steps,
    check_real_time,
    check_steps,
    diagnostics,
    make_active,
    start_moving,
)
from controller_build import law_check

pytestmark = pytest.mark.ros
DOWN = 50  # cycles of ramp_down_time


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('faults')
    _, _, file = write_result(folder)
    with ControlCell(folder, file, number=41) as cell:
        yield cell


def check_ramped_out(cell, fault):
    """A fault that stays, and torque that ends within ramp_down_time, without a step."""
    cell.wait(lambda: cell.last.fault, 'the fault', 5.0)
    cell.go_on(0.3)
    first = min(number for number, row in cell.cycles.items() if row.fault)
    after = {number: row for number, row in cell.cycles.items() if number >= first}
    assert {row.fault for row in after.values()} == {fault}
    assert not any(row.enabled for row in after.values())
    assert np.any(cell.cycles[first].applied)
    left = [row.applied for number, row in after.items() if number >= first + DOWN]
    assert len(left) > 50 and not np.any(left)
    check_steps(cell)


def recover(cell, fault):
    """Only the reset service clears the fault, and torque comes only with enable."""
    refused = cell.enable(True)
    assert not refused.success and fault in refused.message
    assert cell.reset().message == f'cleared: {fault}'
    cell.go_on(0.1)
    assert not cell.last.fault and not np.any(cell.last.applied)
    assert cell.enable(True).success
    cell.go_on(0.5)
    assert np.abs(cell.last.applied).max() > 1.0 and not cell.last.fault
    check_steps(cell)


def test_measured_positions_that_freeze_ramp_to_zero_and_latch_until_reset(cell):
    start_moving(cell)
    cell.probe.freeze(True)
    fault = 'the measured positions stood still for state_timeout while the reference moved'
    check_ramped_out(cell, fault)
    cell.probe.freeze(False)
    cell.wait(lambda: f'additive torque ramped to zero: {fault}' in cell.log(), 'the log', 5.0)
    cell.go_on(0.2)
    assert cell.last.fault == fault and not np.any(cell.last.applied)  # it is latched
    assert not np.any(cell.effort)
    cell.clear()  # the effort that was measured was frozen, too
    recover(cell, fault)
    check_hardware_steps(cell)


def test_a_system_clock_that_goes_back_ramps_to_zero_and_latches_until_reset(cell):
    start_moving(cell)
    cell.probe.shift_clock(-0.02)
    check_ramped_out(cell, 'the time of the cycle went back')
    recover(cell, 'the time of the cycle went back')


def deactivated_with_a_fault(cell):
    """Frozen on its way, and then switched off; return the fault."""
    start_moving(cell)
    cell.probe.freeze(True)
    cell.wait(lambda: cell.last.fault, 'the fault', 5.0)
    cell.probe.freeze(False)
    cell.switch(deactivate=BOTH)
    return cell.last.fault


def test_a_fault_outlasts_deactivation_until_reset(cell):
    fault = deactivated_with_a_fault(cell)
    assert not cell.enable(True).success
    cell.switch(activate=BOTH)
    cell.go_on(0.5)
    assert cell.last.fault == fault and not cell.last.enabled  # positions, but no torque
    assert not np.any(cell.effort) and not np.any(cell.last.applied)
    assert f'held at zero by a fault of before: {fault}' in cell.log()
    recover(cell, fault)


@pytest.fixture
def forwarded(cell):
    make_active(cell)
    forwarded = Forwarded(cell)
    forwarded.take_over()
    yield forwarded
    cell.switch(deactivate=[*forwarded.names, PLUGIN])


def test_bad_and_frozen_references_are_refused_whole_counted_and_latch_until_reset(
    cell, forwarded
):
    still, posture = [0.0] * 6, [0.1, 0.5, -0.4, 0.2, 0.3, 0.1]
    forwarded.send(position=posture)  # velocity and acceleration are missing
    assert 'needs command_interfaces: [position, velocity' in cell.last.fault
    assert not np.any(cell.last.applied)
    assert not cell.enable(True).success
    forwarded.recover(velocity=still, acceleration=still)
    bad = [*still[:5], 1e200]
    forwarded.send(velocity=bad)
    assert cell.last.fault == 'the reference is not finite'
    cell.go_on(0.1)  # ramp_down_time
    assert not np.any(cell.last.applied)
    facts = diagnostics(cell)
    assert int(facts['references refused']) > 20 and len(facts['model_hash']) == 64
    assert cell.diagnoses[-1].message == 'the reference is not finite'
    forwarded.recover(velocity=still)
    forwarded.send(velocity=[0.5] * 6)  # and the position does not change
    assert 'stood still for reference_timeout' in cell.last.fault
    cell.go_on(0.1)
    assert not np.any(cell.last.applied)
    forwarded.recover(velocity=still)
    check_steps(cell)
    check_hardware_steps(cell)


def test_no_update_of_all_these_allocated_or_waited(cell):
    check_real_time(cell)
