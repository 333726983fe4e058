# SPDX-License-Identifier: Apache-2.0
"""Efforts at the cell while joint states are dropped, late, frozen or wrongly stamped."""

import numpy as np
import pytest
from faulty_cell import LIMIT, STEP, UNKNOWN, FaultyCell
from robodyn_ros.msg import TorqueState
from ros_client import steps
from std_srvs.srv import SetBool, Trigger

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    cell = None
    try:
        cell = FaultyCell(tmp_path_factory.mktemp('faults'), 41)
        yield cell
    finally:
        if cell is not None:
            cell.close()


def check_efforts(cell):
    """Any effort is finite, within the limit of each joint, and within its rate."""
    rows = cell.commands
    efforts = np.array([row.message for row in rows])
    assert np.isfinite(efforts).all()
    assert (np.abs(efforts) <= LIMIT).all()
    change, between = steps(rows, lambda row: row)
    assert (np.abs(change) <= STEP * between * (1 + 1e-9)).all()


def test_joint_states_that_stay_away_ramp_the_torque_to_zero_and_latch(cell):
    """Those that freeze or go back: feedforward/test_state_failures.py."""
    cell.ready()
    cell.inject('joint_states drop 0.5')
    cell.wait(lambda: cell.state.fault, 'a fault')
    cell.wait(lambda: not cell.flows(), 'zero torque')
    assert 'there has been no usable new joint state for' in cell.state.fault
    assert cell.state.fault_code == TorqueState.FAULT_STATE_MISSING
    check_efforts(cell)
    assert [UNKNOWN, UNKNOWN] in cell.levels, 'stale or NaN is never OK'
    refused = cell.call(SetBool, 'feedforward/enable', SetBool.Request(data=True))
    assert not refused.success and 'held at zero by a fault' in refused.message
    assert 'cleared' in cell.call(Trigger, 'feedforward/reset', Trigger.Request()).message


def test_joint_states_that_are_not_finite_are_never_ok_and_make_no_torque(cell):
    cell.ready()
    cell.inject('joint_states corrupt 0.3')
    cell.wait(lambda: [UNKNOWN, UNKNOWN] in cell.levels, 'unknown levels')
    check_efforts(cell)


def test_a_cell_that_is_killed_takes_the_torque_away_and_the_levels_are_unknown(cell):
    cell.ready()
    cell.kill('cell')
    try:
        cell.wait(lambda: cell.level == [UNKNOWN, UNKNOWN], 'unknown levels')
        text = 'torque is zero: there has been no usable new joint state for'
        cell.wait(lambda: text in cell.diagnostics['feedforward'].message, 'the fault')
    finally:
        cell.start('cell')
    cell.ready()


def test_a_feed_forward_that_is_killed_leaves_a_motion_that_ends_without_torque(cell):
    cell.ready()
    cell.move(4.0)
    cell.wait(cell.flows, 'torque')
    cell.kill('feedforward')
    cell.wait(lambda: not cell.flows(), 'the end of the motion')
    check_efforts(cell)
