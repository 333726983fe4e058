# SPDX-License-Identifier: Apache-2.0
"""Models of every kind in the plugin on the real ros2_control: one manager, a chain for each.

The mock hardware has six joints; what they are to a model is of no consequence to it.
"""

import numpy as np
import pytest
from control_cell import DELAY, ControlCell, write_result
from control_checks import (
    BOTH,
    JTC_KIND,
    REFERENCES,
    check_applied,
    check_real_time,
    check_steps,
    torque_of,
)
from controller_build import law_check
from controller_models import MODELS
from robodyn_ros.srv import SetPayload
from writers import result_file

from robodyn_ros.errors import ModelError
from robodyn_ros.models.payload import payload_of

pytestmark = pytest.mark.ros
OURS = {'max_payload': 10.0, 'torque_state_rate': 500.0}


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('models')
    *_, file = write_result(folder)
    with ControlCell(folder, file, number=47, enforce_command_limits=False) as cell:
        cell.switch(deactivate=BOTH)
        yield cell


@pytest.fixture(params=MODELS)
def chain(cell, request, tmp_path):
    """Plugin and JTC for this model; the cell's motions and checks are theirs."""
    name = request.param.replace(' ', '_').replace('-', '_')
    plugin, jtc = f'plugin_{name}', f'jtc_{name}'
    cell.model = model = MODELS[request.param]()
    random = np.random.default_rng(1).uniform(0.1, 1.0, len(model.parameters))
    known = model.prior()  # random links are no robot, and refused
    cell.values = np.where(np.isfinite(known), known, random)
    joints = list(model.joint_names)
    file = result_file(tmp_path, model, cell.values)
    ours = {'joints': sorted(joints), 'result_file': str(file), **OURS}
    assert cell.load(plugin, ours) and cell.configure(plugin), cell.log()
    theirs = {'joints': joints, 'command_joints': [f'{plugin}/{joint}' for joint in joints]}
    assert cell.load(jtc, {**theirs, **REFERENCES}, JTC_KIND) and cell.configure(jtc), cell.log()
    cell.listen_to(plugin, jtc, joints)
    cell.switch(activate=[plugin, jtc])
    cell.wait(lambda: cell.cycles and cell.references, 'the chain')
    cell.go_on(0.5)  # ramp_up_time
    yield plugin
    cell.switch(deactivate=[plugin, jtc])


def check_torque(cell, added=0.0):
    cell.clear()
    cell.move(2.0)
    expected = torque_of(cell, added)
    for number, torque in expected.items():
        np.testing.assert_allclose(cell.cycles[number].requested, torque, rtol=0.0, atol=1e-9)
    check_applied(cell, expected)
    check_steps(cell)
    assert not cell.last.fault
    return expected


def test_the_commanded_effort_is_that_of_the_model_and_of_its_payload(cell, chain):
    empty = check_torque(cell)
    answer = cell.call(SetPayload, f'{chain}/set_payload', SetPayload.Request(mass=0.5))
    try:
        added = payload_of(cell.model, 0.5).added
    except ModelError:
        assert not answer.success and answer.message
        return
    assert answer.success, answer.message
    cell.go_on(0.5)
    loaded = check_torque(cell, added)
    assert np.abs(added).max() == 0.0 or (
        max(np.abs(torque).max() for torque in loaded.values())
        != max(np.abs(torque).max() for torque in empty.values())
    )
    assert len(empty) > 300 + DELAY


def test_no_update_of_all_these_allocated_or_waited(cell):
    check_real_time(cell)
