# SPDX-License-Identifier: Apache-2.0
"""The plugin where drives take something else than torque at the joint, in an order of their own.

A cell of its own: all of it is settled when the plugin is configured.
"""

import numpy as np
import pytest
from control_cell import JOINTS, ControlCell, write_result
from control_checks import check_applied, check_commanded, check_real_time, check_steps, torque_of
from controller_build import law_check

pytestmark = pytest.mark.ros
ORDER = ['joint4', 'joint1', 'joint6', 'joint2', 'joint5', 'joint3']
FACTORS = [2.0, -3.0, 0.5, -1.5, 4.0, 70.0]
GRAVITY = ['included', 'excluded', 'included', 'excluded', 'included', 'excluded']
FREE = ['joint1', 'joint2', 'joint3']


@pytest.fixture(
    scope='module',
    params=[
        {'effort.gravity': GRAVITY},
        {'effort.gravity': GRAVITY[::-1], 'effort.command_gravity': GRAVITY},
    ],
    ids=['gravity', 'command_gravity'],
)
def cell(tmp_path_factory, request):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('semantics')
    model, values, file = write_result(folder)
    parameters = {
        'joints': ORDER, 'effort.unit': 'permille', 'effort.side': 'motor',
        'effort.command_per_torque': FACTORS, **request.param,
    }  # fmt: skip
    with ControlCell(folder, file, number=45, parameters=parameters) as cell:
        cell.model, cell.values = model, values
        cell.go_on(0.5)  # ramp_up_time
        yield cell


def check_torque(cell, added=0.0):
    """The law's torque without gravity where drives have their own, and what they get of it."""
    cell.clear()
    cell.move(3.0)
    expected = torque_of(cell, added, gravity_free=FREE)
    assert len(expected) > 50
    complete = torque_of(cell, added)
    assert max(np.abs(complete[number] - expected[number])[1] for number in expected) > 10.0
    for number, torque in expected.items():
        np.testing.assert_allclose(cell.cycles[number].requested, torque, rtol=0.0, atol=1e-9)
    factor = np.array([FACTORS[ORDER.index(joint)] for joint in JOINTS])
    given = np.array([row.applied for row in cell.cycles.values()]) * factor
    begin = min(row.stamp for row in cell.cycles.values())  # states of before may be heard late
    efforts = np.array([row for stamp, row in cell.efforts.items() if stamp > begin])
    assert (np.abs(efforts).max(axis=0) > 1.0).all()
    check_commanded(cell, given, efforts, 1e-9)
    check_steps(cell)
    return expected


def test_drives_get_per_mille_with_sign_and_gravity_as_each_of_them_takes_it(cell):
    check_applied(cell, check_torque(cell))


def test_no_update_of_these_allocated_or_waited(cell):
    check_real_time(cell)
