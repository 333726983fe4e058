# SPDX-License-Identifier: Apache-2.0
"""The plugin where ros2_control enforces the URDF's effort limits, in a namespace, and on Ctrl-C.

A cell of its own: all this is settled when the controller manager starts, or ends it.
"""

import signal

import numpy as np
import pytest
from control_cell import PERIOD, PLUGIN, RATE, ControlCell, write_result
from control_checks import check_commanded
from controller_build import law_check

pytestmark = pytest.mark.ros
EFFORT = 20.0
SPACE = 'left'
STEP = RATE * PERIOD


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('enforced')
    _, _, file = write_result(folder)
    options = {'effort': EFFORT, 'enforce_command_limits': True, 'namespace': SPACE}
    with ControlCell(folder, file, number=43, **options) as cell:
        yield cell


def test_enforced_command_limits_clip_the_effort_beyond_the_limit_and_nothing_else(cell):
    """Without enforcement the same limit does nothing: test_ros2_control.py has one of 2 Nm."""
    cell.start(8.0)
    cell.go_on(0.5)
    cell.clear()
    cell.go_on(1.0)
    efforts = np.array(list(cell.efforts.values()))
    wanted = np.array([row.applied for row in cell.cycles.values()])
    assert np.abs(wanted).max() > 2.0 * EFFORT  # torque_state tells what was asked for
    assert np.abs(efforts).max() == EFFORT
    clipped = np.clip(wanted, -EFFORT, EFFORT)
    check_commanded(cell, clipped, efforts)


def test_in_a_namespace_every_name_is_in_it_so_that_there_may_be_two_robots(cell):
    """With the YAML of config/ros2_control as it is."""
    names = [name for name, _ in cell.node.get_service_names_and_types()]
    names += [name for name, _ in cell.node.get_topic_names_and_types()]
    names = [name for name in names if PLUGIN in name]
    assert f'/{SPACE}/{PLUGIN}/enable' in names and f'/{SPACE}/{PLUGIN}/torque_state' in names
    assert all(name.startswith(f'/{SPACE}/') for name in names)
    cell.wait(lambda: cell.diagnoses, 'diagnostics')
    assert cell.diagnoses[-1].name == f'{SPACE}/{PLUGIN}: additive torque'


def test_sigint_ramps_down_then_zero(cell):
    cell.clear()
    cell.go_on(0.2)
    before = np.abs(cell.last.applied).max()
    assert before > 4.0 * STEP
    cell.process.send_signal(signal.SIGINT)
    end = cell.spin_until_it_ends()
    assert end < 10.0
    numbers = np.array(sorted(cell.cycles))
    applied = np.array([cell.cycles[number].applied for number in numbers])
    steps = np.abs(np.diff(applied, axis=0))
    assert (steps <= np.diff(numbers)[:, None] * STEP * (1 + 1e-9)).all()
    assert not np.any(applied[-1]) and not cell.last.enabled
    fading = [row for row in cell.cycles.values() if not row.enabled and np.any(row.applied)]
    assert len(fading) > 10  # a ramp, not a jump between two messages
