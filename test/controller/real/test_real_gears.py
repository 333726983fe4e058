# SPDX-License-Identifier: Apache-2.0
"""Torque of gear deflection in the plugin on the real ros2_control with mock hardware.

A forward_command_controller commands the positions of the motors that the mock reports.
"""

import numpy as np
import pytest
import residuals
from control_cell import DELAY, JOINTS, PLUGIN, ControlCell, write_result
from control_checks import (
    BOTH,
    check_hardware_steps,
    check_real_time,
    check_steps,
    diagnostics,
    make_active,
)
from controller_build import law_check
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros
MOTORS, SCALE, NUMBER = 'motor_positions', 0.7, 37


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('gears')
    law = residuals.proportional(JOINTS)
    *_, file = write_result(folder, law)
    parameters = {'residual_scale': SCALE}
    with ControlCell(folder, file, number=NUMBER, parameters=parameters, motors=True) as cell:
        cell.law = law
        joints = [f'{joint}_motor' for joint in JOINTS]
        change = {'joints': joints, 'interface_name': 'position'}
        assert cell.load(MOTORS, change, 'forward_command_controller/ForwardCommandController')
        assert cell.configure(MOTORS)
        cell.switch(deactivate=BOTH)  # the mock starts no joint without its position
        cell.switch(activate=[MOTORS, *BOTH])
        cell.motors = cell.node.create_publisher(Float64MultiArray, f'{MOTORS}/commands', 1)
        cell.wait(cell.motors.get_subscription_count, 'the controller of the motors')
        yield cell


def deflect(cell, deflection):
    """Set the positions of the motors of a robot at rest."""
    positions = cell.law.gear_ratio * (cell.position + deflection)
    cell.motors.publish(Float64MultiArray(data=positions.tolist()))


def added(cell):
    """Torque in addition to that of the model, which does not change at rest."""
    return cell.last.applied - cell.last.requested


def test_without_positions_of_the_motors_there_is_the_torque_of_the_model(cell):
    make_active(cell)
    cell.go_on(1.0)  # ramp_up_time; friction has faded out
    np.testing.assert_allclose(added(cell), 0.0, atol=1e-9)
    assert np.abs(cell.last.applied).max() > 1.0 and not cell.last.fault
    assert diagnostics(cell)['residual_torque'] == 'the motor positions are not known'


def test_the_deflection_adds_the_torque_of_the_law_and_fades_beyond_the_training(cell):
    make_active(cell)
    for deflection in (0.005, -0.003):
        deflect(cell, deflection)
        cell.go_on(1.0)
        each = np.full((1, 6), deflection), np.zeros((1, 6)), np.zeros((1, 6))
        expected = SCALE * cell.law.torque(*each)[0]
        assert np.abs(expected).min() > 1.0
        np.testing.assert_allclose(added(cell), expected, rtol=0.0, atol=1e-6)
        assert diagnostics(cell)['residual_torque'] == 'applied'
    deflect(cell, 0.5)  # an encoder with another zero
    cell.go_on(1.0)
    np.testing.assert_allclose(added(cell), 0.0, atol=1e-9)
    assert not cell.last.fault
    check_steps(cell)
    check_hardware_steps(cell)


def test_a_motion_with_it_has_no_fault_and_keeps_rate_and_limit(cell):
    make_active(cell)
    deflect(cell, 0.005)
    cell.go_on(0.5)
    cell.clear()
    cell.move(3.0)  # the motors stay: they are not measured any more
    assert {row.fault for row in cell.cycles.values()} == {''}
    delayed = [
        np.abs(row.applied - cell.cycles[number - DELAY].requested).max()
        for number, row in cell.cycles.items()
        if number - DELAY in cell.cycles
    ]
    assert max(delayed) > 1.0 and min(delayed) < 1e-9
    check_steps(cell)
    check_hardware_steps(cell)


def test_no_update_of_all_these_allocated_or_waited(cell):
    check_real_time(cell)
    cell.switch(deactivate=BOTH)
    assert cell.state_of(PLUGIN) == 'inactive'
