# SPDX-License-Identifier: Apache-2.0
"""The plugin on the real ros2_control with mock hardware: JTC -> plugin -> hardware at 500 Hz.

Needs controller_manager, joint_trajectory_controller and the built plugin; elsewhere skipped.
"""

import time

import numpy as np
import pytest
import residuals
from control_cell import DELAY, JOINTS, PLUGIN, ControlCell, write_result
from control_checks import (
    BOTH,
    JTC,
    NUMBERS,
    STEP,
    check_applied,
    check_commanded,
    check_hardware_steps,
    check_real_time,
    check_steps,
    diagnostics,
    make_active,
    start_moving,
    torque_of,
)
from controller_build import law_check
from controller_manager_msgs.srv import ListControllers
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from robodyn_ros.srv import SetPayload

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.payload import payload_of

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('control')
    model, values, file = write_result(folder)
    # The limit in the URDF is far below the torques here: without enforcement it does nothing.
    with ControlCell(folder, file, effort=2.0, enforce_command_limits=False) as cell:
        cell.model, cell.values = model, values
        yield cell


def test_the_commanded_effort_is_the_law_at_the_reference_some_cycles_earlier(cell):
    cell.go_on(0.5)  # ramp_up_time
    cell.clear()
    cell.move(3.0)
    expected = torque_of(cell)
    assert len(expected) > 300
    for number, torque in expected.items():
        np.testing.assert_allclose(cell.cycles[number].requested, torque, rtol=0.0, atol=1e-9)
    check_applied(cell, expected)
    # The hardware got what was published: its effort state is the command.
    given = np.array([row.applied for row in cell.cycles.values()])
    efforts = np.array(list(cell.efforts.values()))
    assert np.abs(efforts).max() > 5.0
    assert {row.delay for row in cell.cycles.values()} == {DELAY}
    check_commanded(cell, given, efforts)
    check_steps(cell)
    check_hardware_steps(cell)


def test_payload_scale_and_enable_at_run_time_never_step(cell):
    start_moving(cell, 7.0)
    request = SetPayload.Request(mass=4.0, frame='link5', center_of_mass=[0.1, 0.0, 0.05])
    assert cell.call(SetPayload, f'{PLUGIN}/set_payload', request).success
    cell.go_on(0.5)  # blended in
    since = cell.last.stamp
    cell.go_on(0.4)
    payload = payload_of(cell.model, 4.0, frame='link5', center_of_mass=[0.1, 0.0, 0.05])
    expected = torque_of(cell, payload.added, since)
    assert len(expected) > 20
    for number, torque in expected.items():
        np.testing.assert_allclose(cell.cycles[number].requested, torque, rtol=0.0, atol=1e-9)
    assert float(diagnostics(cell)['payload_mass']) == 4.0
    value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.5)
    request = SetParameters.Request(parameters=[Parameter(name='feedforward_scale', value=value)])
    answer = cell.call(SetParameters, f'{PLUGIN}/set_parameters', request)
    assert answer.results[0].successful
    cell.go_on(0.5)  # blended in
    delayed = cell.cycles.get(max(cell.cycles) - DELAY)
    if delayed is not None:
        np.testing.assert_allclose(cell.last.applied, 0.5 * delayed.requested, atol=1e-9)
    assert cell.enable(False).success
    cell.go_on(0.2)
    assert not np.any(cell.last.applied) and not cell.last.enabled
    assert cell.enable(True).success
    cell.go_on(0.5)
    assert np.abs(cell.last.applied).max() > 1.0
    value.double_value = 1.0
    cell.call(SetParameters, f'{PLUGIN}/set_parameters', request)
    assert cell.call(SetPayload, f'{PLUGIN}/set_payload', SetPayload.Request()).success
    cell.go_on(0.5)
    check_steps(cell)
    check_hardware_steps(cell)
    for wrong in (1.1, float('nan')):
        value.double_value = wrong
        answer = cell.call(SetParameters, f'{PLUGIN}/set_parameters', request)
        assert not answer.results[0].successful


def test_refusals_are_sentences(cell):
    for request, sentence in (
        (SetPayload.Request(mass=-1.0), 'must not be negative'),
        (SetPayload.Request(mass=float('nan')), 'must be finite'),
        (SetPayload.Request(mass=1.0, center_of_mass=[1.0]), 'needs 3 numbers'),
        (SetPayload.Request(mass=1.0, inertia=[1.0]), 'needs 6 numbers'),
        (SetPayload.Request(mass=1.0, inertia=[1.0, 0, 0, 1.0, 0, 3.0]), 'no body has'),
        (SetPayload.Request(mass=2500.0), 'payload of 2500 kg is above max_payload of'),
        (SetPayload.Request(mass=1.0, frame='hand'), "no link 'hand'"),
        (SetPayload.Request(mass=1.0, frame='base_link'), 'not moved by any joint'),
    ):
        answer = cell.call(SetPayload, f'{PLUGIN}/set_payload', request)
        assert not answer.success and sentence in answer.message
    answer = cell.reset()
    assert answer.success and answer.message == 'there was no fault'


def test_a_cancel_holds_the_position_with_the_torque_of_holding_it(cell):
    start_moving(cell)
    cell.cancel()
    cell.go_on(0.5)
    check_steps(cell)
    check_hardware_steps(cell)
    cell.go_on(1.0)  # friction has faded out
    # The JTC may go on commanding the acceleration of the motion: of that nothing must be left.
    q, qd, _ = cell.references[max(cell.references)]
    assert not np.any(qd)
    law = ModelTorque(cell.model, cell.values)
    still = 0.0 * qd[None]
    rest = law.body(q[None], still, still)[0] + law.friction(still)[0]
    np.testing.assert_allclose(cell.last.applied, rest, rtol=0.0, atol=1e-9)
    assert cell.last.enabled and not cell.last.fault


@pytest.mark.parametrize('asap', [False, True])
def test_deactivation_ramps_down_then_zero(cell, asap):
    """Outside the loop it waits for the ramp; inside it is refused, ramps and ends itself."""
    start_moving(cell)
    assert cell.switch(deactivate=BOTH, check=False, asap=asap) != asap
    cell.wait(lambda: cell.state_of(PLUGIN) == 'inactive', 'the end of the ramp', 5.0)
    cell.come_to_zero()
    assert cell.state_of(JTC) == 'inactive'
    cell.wait(lambda: not np.any(cell.last.applied), 'the last message of the ramp', 5.0)
    assert not cell.last.fault
    check_steps(cell)
    check_hardware_steps(cell)


@pytest.mark.parametrize('asap', [False, True])
def test_deactivation_of_the_trajectory_controller_alone_ramps_down_too(cell, asap):
    start_moving(cell)
    cell.switch(deactivate=[JTC], check=False, asap=asap)  # the plugin cannot stay without
    cell.wait(lambda: cell.state_of(PLUGIN) == 'inactive', 'the end of the ramp', 5.0)
    cell.come_to_zero()
    check_steps(cell)
    check_hardware_steps(cell)


def check_start(cell):
    """Activate both; torque begins at zero."""
    cell.come_to_zero()
    begin, before = time.time_ns(), max(cell.cycles)
    cell.switch(activate=BOTH)
    cell.go_on(0.5)
    for kept in (cell.cycles, cell.references, cell.efforts):  # what was heard late
        for key in [key for key in kept if getattr(kept[key], 'stamp', key) < begin]:
            del kept[key]
    first = min(cell.cycles)
    assert (np.abs(cell.cycles[first].applied) <= STEP * (first - before) * (1 + 1e-9)).all()
    assert np.abs(cell.last.applied).max() > 1.0
    check_steps(cell)


def test_reactivation_starts_from_zero_without_a_stale_torque(cell):
    start_moving(cell)
    cell.switch(deactivate=BOTH)
    check_start(cell)
    check_hardware_steps(cell)
    # It holds the position: torque of holding, nothing of the motion before.
    assert not np.any(cell.references[max(cell.references)][1])


def test_a_restarted_controller_starts_from_zero(cell):
    """Cleaned up, configured and activated again, as `ros2 control` does after a crash."""
    make_active(cell)
    cell.switch(deactivate=BOTH)
    assert cell.clean_up(PLUGIN) and cell.configure(PLUGIN)
    check_start(cell)


def test_activation_alone_is_refused(cell):
    make_active(cell)
    cell.switch(deactivate=BOTH)
    assert not cell.switch(activate=[PLUGIN], check=False)
    assert cell.state_of(PLUGIN) == 'inactive'
    answer = cell.enable(True)
    assert not answer.success and answer.message == 'the controller is not active'


def test_activation_is_refused_without_the_interfaces(cell):
    name = f'other_{next(NUMBERS)}'
    assert cell.load(name, {'effort_interface': 'current'}) and cell.configure(name)
    make_active(cell)
    cell.switch(deactivate=BOTH)
    assert not cell.switch(activate=[name], check=False)
    assert cell.state_of(name) == 'inactive'


@pytest.mark.parametrize(
    'change, sentence',
    [
        ({'model_hash': 'abc'}, 'model_hash asks for abc'),
        ({'joints': [*JOINTS[:5], 'wrist']}, 'joint joint6 of the model is not among the joints'),
        ({'joints': JOINTS[:5]}, 'the model has 6 joints, the parameter joints 5'),
        ({'effort.unit': []}, 'effort.unit'),
        ({'effort.side': 'motor'}, 'needs effort.command_per_torque'),
        ({'effort.unit': 'permille', 'effort.command_per_torque': [1000.0]}, 'at most 32767'),
        ({'max_torque': [1.0, 2.0]}, 'needs one value or one for each of the 6 joints'),
        ({'effort_interface': 'position'}, 'must differ, both are position'),
        ({'result_file': '/nowhere.yaml'}, '/nowhere.yaml cannot be used: it cannot be read'),
        ({'ramp_down_time': 0.001}, 'ramp_down_time'),
        ({'torque_state_rate': float('nan')}, 'torque_state_rate must be finite, got nan'),
        ({'max_torque': [float('inf')]}, 'max_torque must be finite, got inf'),
        ({'effort.command_gravity': ['sometimes']}, 'effort.command_gravity'),
        ({'torque_max': [50.0]}, 'parameter torque_max is not for this controller'),
        ({'collision.reaction': 'drop_torque'}, 'does not monitor collisions'),
        (
            {'torque_threshold': [50.0], 'effort.gravity': [*['included'] * 5, 'excluded']},
            'torque_threshold needs the complete torque of the drives, but the effort of joint '
            'joint6 is declared without gravity',
        ),
    ],
)
def test_activation_is_refused_where_joints_model_or_effort_do_not_match(cell, change, sentence):
    name = f'other_{next(NUMBERS)}'
    assert not (cell.load(name, change) and cell.configure(name))
    cell.wait(lambda: sentence in cell.log(), sentence, 5.0)


@pytest.mark.parametrize('scale', [0.0, 0.5])
def test_the_positions_of_the_motors_are_claimed_for_a_residual_torque_alone(
    cell, scale, tmp_path
):
    *_, file = write_result(tmp_path, residuals.proportional(JOINTS))
    name = f'other_{next(NUMBERS)}'
    assert cell.load(name, {'result_file': str(file), 'residual_scale': scale})
    assert cell.configure(name), cell.log()
    answer = cell.call(
        ListControllers, 'controller_manager/list_controllers', ListControllers.Request()
    )
    claimed = next(item for item in answer.controller if item.name == name)
    motors = [item for item in claimed.required_state_interfaces if '_motor/' in item]
    assert motors == [f'{joint}_motor/position' for joint in JOINTS] * bool(scale)


def test_time_of_an_update_in_the_loop(cell):
    """Time of a complete update, as the controller manager calls it, with a cold cache."""
    make_active(cell)
    before = {kind: len(cell.probe.updates(kind)) for kind in ('plugin', 'jtc')}
    cell.move(6.0)
    figures = {}
    for kind, begin in before.items():
        took = cell.probe.updates(kind)['microseconds'][begin:]
        assert len(took) > 2000
        figures[kind] = half, most = np.percentile(took, [50.0, 99.0])
        print(f'update of the {kind}: p50 {half:.1f} p99 {most:.1f} us')
    # Much of it is what this machine takes to load a cache; the JTC tells how long that is today.
    half, most = figures['plugin']
    assert half < min(30.0, figures['jtc'][0]) and most < 10.0 * half


def test_no_update_of_all_these_allocated_or_waited(cell):
    check_real_time(cell)
