# SPDX-License-Identifier: Apache-2.0
"""A joint that the result calls not usable has no torque, unless it is allowed."""

import numpy as np
import pytest
from control_cell import JOINTS, PLUGIN, ControlCell, write_result
from control_checks import BOTH, JTC_KIND, REFERENCES, check_real_time, check_steps
from controller_build import law_check
from writers import result_file

pytestmark = pytest.mark.ros
BAD = JOINTS[1]


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('verdict')
    model, values, file = write_result(folder)
    with ControlCell(folder, file, number=50, enforce_command_limits=False) as cell:
        cell.model, cell.values = model, values
        cell.switch(deactivate=BOTH)
        yield cell


@pytest.mark.parametrize(
    ('name', 'bad', 'allowed'),
    [('refused', [BAD], []), ('allowed', [BAD], [BAD]), ('without', None, [])],
)
def test_it_has_no_torque_unless_it_is_allowed(cell, name, bad, allowed, tmp_path):
    plugin, jtc = f'{PLUGIN}_{name}', f'jtc_{name}'
    file = result_file(tmp_path, cell.model, cell.values, bad=bad)
    ours = {'result_file': str(file), 'allowed_joints': allowed, 'torque_state_rate': 500.0}
    assert cell.load(plugin, ours) and cell.configure(plugin), cell.log()
    theirs = {'joints': JOINTS, 'command_joints': [f'{plugin}/{joint}' for joint in JOINTS]}
    assert cell.load(jtc, {**theirs, **REFERENCES}, JTC_KIND) and cell.configure(jtc), cell.log()
    cell.listen_to(plugin, jtc, JOINTS)
    cell.switch(activate=[plugin, jtc])
    cell.wait(lambda: cell.cycles and cell.references, 'the chain')
    cell.move(2.0)
    title = f'{plugin}: additive torque'
    cell.wait(lambda: any(each.name == title for each in cell.diagnoses), 'diagnostics')
    cell.switch(deactivate=[plugin, jtc])
    rows = cell.cycles.values()
    asked, applied = (np.abs([getattr(row, key) for row in rows]).max(axis=0)
                      for key in ('requested', 'applied'))  # fmt: skip
    refused = name == 'refused'
    assert asked[1] > 10.0 and applied[0] > 1.0 and applied[2] > 1.0
    assert applied[1] == 0.0 if refused else applied[1] > 1.0
    assert not cell.last.fault
    check_steps(cell)
    status = next(each for each in cell.diagnoses if each.name == title)
    facts = {item.key: item.value for item in status.values}
    assert facts['joints without torque'] == (BAD if refused else '')
    line = f'[{plugin}]: joint {BAD} is not usable, it gets no torque'
    assert (line in cell.log()) is refused


@pytest.mark.parametrize(
    ('bad', 'allowed', 'sentence'),
    [
        (JOINTS, [], 'has no usable joint: identify again, or name joints in allowed_joints'),
        (None, ['elbow'], 'allowed_joints: elbow is no joint of the model'),
    ],
)
def test_a_result_without_a_usable_joint_is_refused(cell, bad, allowed, sentence, tmp_path):
    file = result_file(tmp_path, cell.model, cell.values, bad=bad)
    name = f'other_{len(bad or ())}'
    assert not (
        cell.load(name, {'result_file': str(file), 'allowed_joints': allowed})
        and cell.configure(name)
    )
    cell.wait(lambda: sentence in cell.log(), sentence, 5.0)


def test_no_update_of_all_these_allocated_or_waited(cell):
    check_real_time(cell)
