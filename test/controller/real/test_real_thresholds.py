# SPDX-License-Identifier: Apache-2.0
"""Learned thresholds and the momentum observer of the plugin on the real ros2_control."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import yaml
from control_cell import JOINTS, PERIOD, nanoseconds, write_result
from control_checks import BOTH, check_steps, check_updates
from controller_build import law_check
from pushed_cell import measure, pushed_cell, settle
from robodyn_ros.msg import CollisionState

from robodyn_ros.control.collision.threshold_map import Bands, ThresholdMap
from robodyn_ros.control.collision.thresholds_file import LearnedThresholds, write_thresholds
from robodyn_ros.identification.files.result_file import load_identified_model

pytestmark = pytest.mark.ros
MOVING, PASSING, RESTING = 200.0, 90.0, 50.0
BANDWIDTH = 3.0  # Hz: far slower than the filters of the parameters
NUMBERS = count()


def learned(result, *, change=None, **detector):
    """Thresholds that differ in motion, passing standstill and at rest."""
    still = np.full((6, 1), 0.05)
    bands = Bands(still[:, 0], 10.0 * still, *np.zeros((2, 6, 0)))
    cells = np.tile([MOVING, MOVING, PASSING, RESTING], (6, 1))
    given = ThresholdMap(bands, cells, 0.8, *np.full((2, 6), 100.0), change)
    settings = {
        'residual': 'observer', 'period': PERIOD, 'filter_cutoff': 40.0,
        'torque_error_filter': 0.5, 'observer_bandwidth': BANDWIDTH, 'debounce': 2,
    }  # fmt: skip
    model_hash = load_identified_model(result).hash
    return LearnedThresholds(tuple(JOINTS), model_hash, settings | detector, given, 1.0, 3.0)


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('thresholds')
    result, file = write_result(folder), folder / 'thresholds.yaml'
    write_thresholds(learned(result[2]), file)
    with pushed_cell(folder, result, 38, {'collision.thresholds': str(file)}) as cell:
        cell.thresholds = file
        yield cell


def test_learned_thresholds_alone_switch_the_monitor_on_and_hold(cell):
    settle(cell)
    cell.wait(lambda: cell.collisions, 'collision states')
    assert list(cell.collisions[-1].threshold) == [RESTING] * 6
    measure(cell, push=0.7 * RESTING)
    cell.go_on(0.3)
    assert set(cell.collisions[-1].level) == {CollisionState.OK}
    measure(cell, push=0.9 * RESTING)
    cell.wait(lambda: cell.collisions[-1].level[1] == CollisionState.CONTACT, 'the contact')
    measure(cell, push=1.2 * RESTING)
    cell.wait(lambda: cell.last.fault, 'the fault', 5.0)
    cell.go_on(0.3)
    assert cell.last.fault == 'a collision was detected' and not np.any(cell.last.applied)
    alarm = next(each for each in cell.collisions if each.latched)
    assert list(alarm.level) == [1, 3, 1, 1, 1, 1]
    assert RESTING < alarm.torque_error[1] < 1.21 * RESTING
    check_steps(cell)


def test_a_push_below_the_friction_is_found_while_the_controller_holds(tmp_path):
    result, file = write_result(tmp_path), tmp_path / 'thresholds.yaml'
    write_thresholds(learned(result[2], change=np.full(6, 0.4 * RESTING)), file)
    with pushed_cell(tmp_path, result, 36, {'collision.thresholds': str(file)}) as cell:
        measure(cell)
        cell.go_on(0.2)
        cell.switch(deactivate=BOTH)  # before, the drives reported no torque at all
        settle(cell)
        measure(cell, push=0.6 * RESTING)
        cell.wait(lambda: cell.last.fault, 'the fault', 5.0)
        cell.go_on(0.1)
        assert cell.last.fault == 'a collision was detected'
        alarm = next(each for each in cell.collisions if each.latched)
        assert list(alarm.level) == [1, 3, 1, 1, 1, 1]
        assert 0.4 * RESTING < alarm.torque_error[1] < alarm.threshold[1] == RESTING
        check_updates(cell)


def test_the_torque_error_is_that_of_the_observer_of_the_file(cell):
    """A step of the torque passes a first-order low pass of its bandwidth."""
    settle(cell)
    push = 0.7 * RESTING
    measure(cell, push=push)
    cell.wait(lambda: cell.collisions and cell.collisions[-1].torque_error[1] > 0.95 * push, 'it')
    error = np.array([each.torque_error[1] for each in cell.collisions])
    stamps = 1e-9 * np.array([nanoseconds(each.header.stamp) for each in cell.collisions])
    rise = stamps[error > 0.9 * push][0] - stamps[error > 0.1 * push][0]
    assert 0.8 < rise / (np.log(9.0) / (2.0 * np.pi * BANDWIDTH)) < 1.3


def test_a_file_of_another_model_or_period_or_a_damaged_one_is_refused(cell, tmp_path):
    usual = learned(cell.result)
    other = replace(usual, model_hash='other')
    slower = learned(cell.result, period=2.0 * PERIOD)
    for given, sentence in (
        (other, 'were learned with another model or payload (hash other, this result has '),
        (slower, 'a period of 0.004000 s, this controller is updated every 0.002000 s'),
    ):
        check_refused(cell, given, tmp_path, sentence)
    file = tmp_path / 'damaged.yaml'
    content = yaml.safe_load(cell.thresholds.read_text())
    del content['contact_share']
    file.write_text(yaml.safe_dump(content))
    check_refused(cell, None, tmp_path, f'{file} cannot be used: it has no "contact_share"', file)


def check_refused(cell, given, folder, sentence, file=None):
    """The plugin once more, with another thresholds file."""
    name = f'other_{next(NUMBERS)}'
    if file is None:
        file = folder / f'{name}.yaml'
        write_thresholds(given, file)
    assert cell.load(name, {'collision.thresholds': str(file)}) and not cell.configure(name)
    cell.wait(lambda: sentence in cell.log(), sentence, 5.0)


def test_diagnostics_name_the_file(cell):
    settle(cell)
    cell.diagnoses.clear()
    cell.wait(lambda: len(cell.diagnoses) > 1, 'diagnostics')
    told = {item.name.partition(': ')[2]: item for item in cell.diagnoses}
    values = {pair.key: pair.value for pair in told['collision monitor'].values}
    assert values['thresholds'] == str(cell.thresholds)


def test_no_update_of_all_these_allocated_or_waited(cell):
    settle(cell)
    check_updates(cell)
