# SPDX-License-Identifier: Apache-2.0
"""The plugin's collision monitor on the real ros2_control: a push, and its effect in the cycle."""

import numpy as np
import pytest
from control_cell import PLUGIN, nanoseconds, write_result
from control_checks import BOTH, check_steps, check_updates
from controller_build import law_check
from pushed_cell import measure, pushed_cell, settle
from robodyn_ros.msg import CollisionState
from robodyn_ros.srv import SetPayload

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('collisions')
    given = {'collision.max_torque_error': [40.0]}
    with pushed_cell(folder, write_result(folder), 39, given) as cell:
        yield cell


def test_a_push_drops_the_torque_in_the_cycle_in_which_it_is_a_collision(cell):
    settle(cell)
    measure(cell, push=60.0)
    cell.wait(lambda: cell.last.fault, 'the fault', 5.0)
    cell.go_on(0.3)
    assert cell.last.fault == 'a collision was detected' and not np.any(cell.last.applied)
    alarm = next(each for each in cell.collisions if each.latched)
    assert list(alarm.level) == [1, 3, 1, 1, 1, 1] and alarm.message == 'collision at joint2'
    assert 40.0 < alarm.torque_error[1] < 61.0 and alarm.threshold[1] == 40.0
    numbers = sorted(cell.cycles)
    first = next(number for number in numbers if cell.cycles[number].fault)
    assert cell.cycles[first].stamp == nanoseconds(alarm.header.stamp)
    before, after = (np.abs(cell.cycles[k].applied).max() for k in (first - 1, first))
    assert after < before  # it is ramping out already
    check_steps(cell)
    refused = cell.enable(True)
    assert not refused.success and 'a collision was detected' in refused.message
    cell.diagnoses.clear()
    cell.wait(lambda: len(cell.diagnoses) > 1, 'diagnostics')
    told = {item.name.partition(': ')[2]: item for item in cell.diagnoses}
    assert told['collision monitor'].message == 'a collision was detected'
    assert told['collision monitor'].level == told['additive torque'].level == b'\x02'


@pytest.mark.parametrize('push', [1500.0, -1500.0])
def test_a_torque_beyond_its_threshold_drops_the_additive_torque_sooner(cell, push):
    """In its cycle, as a collision needs two of them."""
    settle(cell)
    measure(cell, push=push)
    cell.wait(lambda: cell.last.fault, 'the fault', 5.0)
    cell.go_on(0.3)
    assert cell.last.fault == 'a measured or additive torque is beyond torque_threshold'
    assert not np.any(cell.last.applied)
    check_steps(cell)
    refused = cell.enable(True)
    assert not refused.success and 'torque_threshold' in refused.message


def test_reset_clears_the_collision_and_one_that_lasts_comes_again(cell):
    settle(cell)
    measure(cell, push=60.0)
    cell.wait(lambda: cell.last.fault, 'the fault', 5.0)
    assert cell.reset().message == 'cleared: a collision was detected'
    cell.go_on(0.05)
    assert not cell.last.fault and cell.collisions[-1].latched  # no torque is applied: no fault
    refused = cell.enable(True)
    assert not refused.success and 'a collision was detected' in refused.message
    measure(cell)
    cell.go_on(0.1)
    assert cell.reset().message == 'cleared: a collision was detected'
    cell.go_on(0.05)
    assert not cell.collisions[-1].latched and cell.reset().message == 'there was no fault'


def test_a_payload_and_the_end_are_unknown_and_the_torque_stays(cell):
    settle(cell)
    request = SetPayload.Request(mass=1.0)
    assert cell.call(SetPayload, f'{PLUGIN}/set_payload', request).success
    codes = {'payload': CollisionState.FAULT_SETTLING, 'end': CollisionState.FAULT_STATE_MISSING}
    cell.wait(lambda: cell.collisions[-1].fault_code == codes['payload'], 'settling')
    assert not any(cell.collisions[-1].level) and not cell.last.fault
    assert cell.call(SetPayload, f'{PLUGIN}/set_payload', SetPayload.Request()).success
    cell.wait(lambda: set(cell.collisions[-1].level) == {CollisionState.OK}, 'OK')
    cell.collisions.clear()
    cell.switch(deactivate=BOTH)
    cell.wait(lambda: cell.collisions[-1].fault_code == codes['end'], 'the last message')
    first = [each.fault_code for each in cell.collisions].index(codes['end'])
    ramp = cell.collisions[first:]
    assert len(ramp) > 3 and not any(any(each.level) for each in ramp)
    assert ramp[-1].message == 'no measured values: the controller is not updated'


def test_no_update_of_all_these_allocated_or_waited(cell):
    settle(cell)
    check_updates(cell)
