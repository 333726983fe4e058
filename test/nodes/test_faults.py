# SPDX-License-Identifier: Apache-2.0
"""Commands at the cell while messages are dropped, late, doubled, spoilt or frozen."""

import numpy as np
import pytest
from faulty_cell import (
    COMMANDS,
    LIMIT,
    OK,
    PERIOD,
    RAMP_DOWN,
    STEP,
    UNKNOWN,
    FaultyCell,
)
from robodyn_ros.msg import TorqueState
from ros_client import details, steps
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    cell = None
    try:
        cell = FaultyCell(tmp_path_factory.mktemp('faults'), 41)
        cell.move(900.0)
        yield cell
    finally:
        if cell is not None:
            cell.close()


def check_commands(cell):
    """Any output is finite, within the limit of each joint, and within its rate."""
    rows = cell.commands
    commands = np.array([row.message for row in rows])
    assert np.isfinite(commands).all()
    assert (np.abs(commands) <= LIMIT).all()
    change, between = steps(rows, lambda row: row)
    late = np.diff([row.time for row in rows])[:, None] / PERIOD
    # A cycle that comes late may make up for those that did not come; some were lost on the way.
    allowed = STEP * np.maximum(between, late)
    assert (np.abs(change) <= allowed * (1 + 1e-9)).all()
    assert 'deactivated' not in cell.log('cell').read_text()
    for state in cell.states:
        assert np.isfinite([state.requested, state.additive_command]).all()


def seconds(state):
    return state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec


def check_tripped(cell, text):
    """Torque ramped straight to zero, and a latched fault that only a reset clears."""
    cell.wait(lambda: cell.state.fault and not cell.flows(), f'the fault: {text}')
    cell.spin(0.1)
    assert text in cell.state.fault, cell.state.fault
    check_commands(cell)
    faulty = [state for state in cell.states if state.fault]
    begin = np.array(faulty[0].additive_command)
    ramp = np.array([state.additive_command for state in faulty])
    cycles = round(RAMP_DOWN / PERIOD)
    share = ramp[:, 0] / begin[0]
    assert (np.diff(share) <= 0.0).all() and not ramp[-1].any()
    np.testing.assert_allclose(ramp, share[:, None] * begin, atol=1e-9)
    assert len(set(share)) > cycles // 2, 'it takes as many steps as the ramp has'
    took = np.diff([seconds(state) for state in faulty[: int(np.argmax(share == 0.0)) + 1]])
    assert took.sum() < RAMP_DOWN + 0.05
    refused = cell.call(SetBool, 'feedforward/enable', SetBool.Request(data=True))
    assert not refused.success and 'held at zero by a fault' in refused.message
    assert not cell.flows()


FATAL = {
    'reference drop 0.4': 'no usable reference for',
    'reference delay 0.5 0.4': 'no usable reference for',
    'reference corrupt 0.3': 'reference',
    'reference freeze 1.2': 'the reference position does not change although its velocity',
    'reference clock 0.1 -2.0': 'the stamp of the reference went back by',
    'joint_states drop 0.4': 'there has been no usable new joint state for',
    'joint_states delay 0.5 0.4': 'there has been no usable new joint state for',
    'joint_states freeze 1.5': 'the positions in joint states do not change although',
    'joint_states clock 0.1 -2.0': 'the stamp of the joint states went back by',
}
CODES = {
    'reference clock 0.1 -2.0': TorqueState.FAULT_TIME_BACK,
    'joint_states clock 0.1 -2.0': TorqueState.FAULT_STATE_TIME_BACK,
}


@pytest.mark.parametrize('fault', FATAL)
def test_a_stream_that_fails_ramps_the_torque_to_zero_and_latches(cell, fault):
    cell.ready()
    cell.inject(fault)
    cell.wait(lambda: cell.state.fault, 'a fault')
    check_tripped(cell, FATAL[fault])
    assert cell.state.fault_code == CODES.get(fault, cell.state.fault_code)
    if fault.startswith('joint_states'):
        assert [UNKNOWN, UNKNOWN] in cell.levels, 'stale or NaN is never OK'
    assert 'cleared' in cell.call(Trigger, 'feedforward/reset', Trigger.Request()).message


@pytest.mark.parametrize('stream', ['reference', 'joint_states'])
def test_a_stream_that_stumbles_never_makes_torque_that_breaks_a_limit(cell, stream):
    cell.ready()
    before = refusals(cell)
    for fault in ('drop 0.02', 'duplicate 0.1', 'delay 0.02 0.01'):
        cell.inject(f'{stream} {fault}')
        cell.spin(0.2)
    check_commands(cell)
    assert cell.flows() and not cell.state.fault
    if stream == 'reference':
        cell.wait(lambda: refusals(cell) > before, 'refused samples in the diagnostics')
    else:
        cell.inject('joint_states corrupt 0.3')
        cell.wait(lambda: [UNKNOWN, UNKNOWN] in cell.levels, 'NaN is never OK')
        check_commands(cell)


def refusals(cell):
    cell.wait(lambda: 'feedforward' in cell.diagnostics, 'diagnostics')
    values = details(cell.diagnostics['feedforward'])
    return int(values.get('refused', 0))


@pytest.mark.real_time
def test_a_cell_that_is_killed_takes_the_torque_away_and_the_levels_are_unknown(cell):
    cell.ready()
    cell.kill('cell')
    try:
        check_tripped(cell, 'no usable')
        cell.wait(lambda: cell.level == [UNKNOWN, UNKNOWN], 'unknown levels')
    finally:
        cell.start('cell')
        cell.move(900.0)
    cell.spin(0.3)
    assert not cell.flows(), 'a fault stays until it is reset'
    cell.ready()


def test_a_controller_that_deactivates_itself_takes_the_torque_away_until_it_is_active(cell):
    cell.ready()
    cell.wait(lambda: cell.state.delivery == TorqueState.DELIVERED, 'the state of the controller')
    other = cell.node.create_publisher(Float64MultiArray, COMMANDS, 10)
    cell.wait(other.get_subscription_count, 'the cell')
    other.publish(Float64MultiArray(data=[1.0]))
    cell.wait(lambda: cell.state.fault and not cell.flows(), 'the fault')
    assert '/forward_effort_controller is not active (inactive) with torque' in cell.state.fault
    assert cell.state.delivery == TorqueState.NOT_DELIVERED
    cell.call(Trigger, 'feedforward/reset', Trigger.Request())
    refused = cell.call(SetBool, 'feedforward/enable', SetBool.Request(data=True))
    assert not refused.success and 'commands reach no drive: activate it' in refused.message
    cell.call(Trigger, 'cell/reset', Trigger.Request())
    cell.move(900.0)
    cell.ready()


def test_a_feed_forward_that_is_killed_leaves_its_last_torque_and_only_the_cell_can_help(cell):
    """As docs/feedforward.md says; the plain fact, so that nobody trusts in another."""
    if cell.processes['feedforward'].poll() is not None:
        cell.start('feedforward')
    cell.ready()
    cell.kill('feedforward')
    cell.spin(0.3)
    last = cell.commands[-1].message
    assert np.any(last)
    cell.wait(lambda: list(cell.reference.effort) == list(last), 'the last torque in the cell')
    cell.spin(0.3)
    np.testing.assert_array_equal(cell.reference.effort, last)
    cell.wait(lambda: cell.level == [OK, OK], 'levels that see nothing wrong')


def test_a_cell_that_enforces_command_limits_clips_the_effort_to_them(cell):
    """The feed-forward of these tests stays within either way; this one is not ours."""
    publisher = cell.node.create_publisher(Float64MultiArray, COMMANDS, 10)

    def clipped():
        publisher.publish(Float64MultiArray(data=[150.0, -150.0]))
        return list(cell.reference.effort) == [100.0, -100.0]

    cell.wait(clipped, 'effort limits of the URDF')
