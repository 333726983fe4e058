"""The plugin on the real ros2_control with mock hardware: JTC -> plugin -> hardware at 500 Hz.

Needs controller_manager, joint_trajectory_controller and the built plugin; elsewhere skipped.
"""

from itertools import count

import numpy as np
import pytest

pytest.importorskip('controller_manager_msgs', reason='there is no ros2_control')
pytest.importorskip('control_msgs', reason='there is no ros2_control')
rclpy = pytest.importorskip('rclpy')
from control_cell import (  # noqa: E402
    DELAY,
    JOINTS,
    LIMIT,
    PERIOD,
    RATE,
    WINDOW,
    ControlCell,
    write_result,
)
from controller_build import law_check  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from robodyn_ros.srv import SetPayload  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from robodyn_ros.control.model_torque import ModelTorque  # noqa: E402
from robodyn_ros.models.payload import payload_of  # noqa: E402

pytestmark = pytest.mark.ros
PLUGIN = 'feedforward_torque_controller'
NUMBERS = count()


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('control')
    model, values, file = write_result(folder)
    with ControlCell(folder, file) as cell:
        cell.model, cell.values = model, values
        yield cell


def torque_of(cell, rows, added=0.0):
    """Python's model torque at the references of the controller, of the same cycle."""
    law = ModelTorque(cell.model, cell.values + added, velocity_window=WINDOW)
    known = np.array(sorted(cell.references))
    asked = np.array(sorted(rows))
    before = known[np.maximum(np.searchsorted(known, asked) - 1, 0)]
    # The controller manager stamps each controller's update by itself, the JTC's just before.
    same = (asked >= before) & (asked - before < 0.5e9 * PERIOD)
    stamps = asked[same]
    references = np.array([cell.references[stamp] for stamp in before[same]])
    q, qd, qdd = references[:, 0], references[:, 1], references[:, 2]
    moving = (np.abs(qd) > WINDOW).all(axis=1)  # at rest the friction of the motion before counts
    return stamps[moving], law.torque(q, qd, qdd)[moving]


def check_steps(cell):
    """No step of the applied torque above the rate, whatever happened."""
    stamps = np.array(sorted(cell.states))
    applied = np.array([cell.states[stamp][1] for stamp in stamps])
    cycles = np.rint(np.diff(stamps) * 1e-9 / PERIOD)
    allowed = np.maximum(cycles, 1.0)[:, None] * RATE * PERIOD
    # The clock of the cycle jitters; a cycle more than its stamps say is allowed for.
    assert (np.abs(np.diff(applied, axis=0)) <= 2.0 * allowed + 1e-9).all()
    assert np.isfinite(applied).all() and (np.abs(applied) <= LIMIT + 1e-9).all()


def test_the_commanded_effort_is_the_law_at_the_reference_some_cycles_earlier(cell):
    cell.clear()
    cell.move(3.0)
    stamps, expected = torque_of(cell, cell.states)
    assert len(stamps) > 300
    requested = np.array([cell.states[stamp][0] for stamp in stamps])
    np.testing.assert_allclose(requested, expected, rtol=0.0, atol=1e-9)
    ordered = np.array(sorted(cell.states))
    gaps = np.diff(ordered) * 1e-9
    compared = 0
    for k in range(len(ordered) - 1 - DELAY):
        if (gaps[k : k + DELAY] < 1.5 * PERIOD).all():  # no message lost between
            then, now = cell.states[ordered[k]], cell.states[ordered[k + DELAY]]
            if np.abs(then[0] - now[1]).max() < 1e-9:
                compared += 1
    assert compared > 0.9 * len(ordered) * 0.5, (compared, len(ordered))
    # The hardware got what was published: its effort state is the command.
    efforts = np.array(list(cell.efforts.values()))
    assert np.abs(efforts).max() > 5.0
    check_steps(cell)


def test_payload_scale_and_enable_at_run_time_never_step(cell):
    cell.clear()
    cell.start(5.0)
    cell.spin(1.0)
    request = SetPayload.Request(mass=4.0)
    assert cell.call(SetPayload, f'{PLUGIN}/set_payload', request).success
    cell.spin(0.7)
    added = payload_of(cell.model, 4.0).added
    late = {stamp: row for stamp, row in cell.states.items() if stamp > max(cell.states) - 3e8}
    stamps, expected = torque_of(cell, late, added)
    assert len(stamps) > 20
    requested = np.array([cell.states[stamp][0] for stamp in stamps])
    np.testing.assert_allclose(requested, expected, rtol=0.0, atol=1e-9)
    value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.5)
    request = SetParameters.Request(parameters=[Parameter(name='feedforward_scale', value=value)])
    answer = cell.call(SetParameters, f'{PLUGIN}/set_parameters', request)
    assert answer.results[0].successful
    cell.spin(0.5)
    assert cell.call(SetBool, f'{PLUGIN}/enable', SetBool.Request(data=False)).success
    cell.spin(0.4)
    assert not np.any(cell.last()[1])
    assert cell.call(SetBool, f'{PLUGIN}/enable', SetBool.Request(data=True)).success
    cell.spin(0.6)
    assert np.abs(cell.last()[1]).max() > 1.0
    value.double_value = 1.0
    cell.call(SetParameters, f'{PLUGIN}/set_parameters', request)
    cell.call(SetPayload, f'{PLUGIN}/set_payload', SetPayload.Request())
    cell.spin(1.5)
    check_steps(cell)


def test_refusals_are_sentences(cell):
    for request, sentence in (
        (SetPayload.Request(mass=-1.0), 'must not be negative'),
        (SetPayload.Request(mass=float('nan')), 'must be finite'),
        (SetPayload.Request(mass=1.0, center_of_mass=[1.0]), 'needs 3 numbers'),
        (SetPayload.Request(mass=1.0, inertia=[1.0]), 'needs 6 numbers'),
        (SetPayload.Request(mass=1.0, frame='hand'), "in the frame 'link6' only"),
    ):
        answer = cell.call(SetPayload, f'{PLUGIN}/set_payload', request)
        assert not answer.success and sentence in answer.message
    answer = cell.call(Trigger, f'{PLUGIN}/reset', Trigger.Request())
    assert answer.success and answer.message == 'there was no fault'


def test_a_cancel_holds_the_position_with_the_torque_of_holding_it(cell):
    cell.clear()
    cell.start(4.0)
    cell.spin(1.5)
    cell.cancel()
    cell.spin(0.8)
    check_steps(cell)
    # The JTC goes on commanding the acceleration of the motion: of that nothing must be left.
    q, qd, qdd = cell.references[max(cell.references)]
    assert not np.any(qd) and np.any(qdd)
    law = ModelTorque(cell.model, cell.values)
    weight = law.body(q[None], 0.0 * qd[None], 0.0 * qd[None])[0]
    friction = np.abs(cell.last()[1] - weight)  # of the last motion, kept at rest
    assert (friction <= law.friction_step + np.abs(law.friction(0.0 * qd[None])[0]) + 1.0).all()


def test_deactivation_leaves_zero_and_reactivation_begins_at_zero(cell):
    cell.clear()
    cell.start(6.0)
    cell.spin(1.0)
    assert np.abs(cell.effort()).max() > 1.0
    both = ['joint_trajectory_controller', PLUGIN]
    cell.switch(deactivate=both)
    cell.spin(0.3)
    assert not np.any(cell.effort())
    cell.clear()
    cell.switch(activate=both)
    cell.spin(0.6)
    first = cell.states[min(cell.states)][1]
    assert (np.abs(first) <= RATE * PERIOD * (1.0 + 1e-9)).all()
    check_steps(cell)
    # It holds the position: torque of holding, nothing of the motion before.
    assert not np.any(cell.references[max(cell.references)][1])


def test_alone_it_is_not_activated(cell):
    both = ['joint_trajectory_controller', PLUGIN]
    cell.switch(deactivate=both)
    assert not cell.switch(activate=[PLUGIN], check=False)
    assert cell.state_of(PLUGIN) == 'inactive'
    cell.switch(activate=both)


@pytest.mark.parametrize(
    'change, sentence',
    [
        ({'model_hash': 'abc'}, 'model_hash asks for abc'),
        ({'joints': [*JOINTS[:5], 'wrist']}, 'joint joint6 of the model is not among the joints'),
        ({'effort.unit': 'permille'}, 'needs effort.command_per_torque'),
        ({'effort.unit': 'permille', 'effort.command_per_torque': [1000.0]}, 'at most 32767'),
        ({'max_torque': [1.0, 2.0]}, 'needs one value or one for each of the 6 joints'),
        ({'result_file': '/nowhere.yaml'}, 'the result file /nowhere.yaml cannot be read'),
        ({'ramp_down_time': 0.001}, 'ramp_down_time'),
    ],
)
def test_what_does_not_fit_is_refused_before_it_can_be_activated(cell, change, sentence):
    name = f'other_{next(NUMBERS)}'
    cell.load(name, change)
    assert not cell.configure(name)
    cell.wait(lambda: sentence in cell.log(), sentence, 5.0)
