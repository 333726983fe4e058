# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.control.collision.reaction.task import Phase, Task, TaskClock, zone_of
from robodyn_ros.errors import ControlError

JOINTS = ('a', 'b', 'c')
BOX = zone_of(['c', 'a'], [-1.0, 0.5], [1.0, 0.7], JOINTS)
TASKS = (Task('screw', 20.0, sensitivity=0.7), Task('place', 5.0, mute=True, zone=BOX))


def test_a_task_works_at_once_and_ends_by_itself() -> None:
    clock = TaskClock(TASKS)
    assert not clock.update(0.0) and clock.phase == Phase.NONE and clock.remaining(0.0) == 0.0
    assert clock.start('screw', 100.0, 3.0).sensitivity == 0.7
    assert clock.phase == Phase.WORKING and clock.remaining(101.0) == 2.0
    assert not clock.update(102.9, np.full(3, np.nan))
    assert clock.update(103.0) and clock.task is None and clock.phase == Phase.NONE
    assert not clock.update(104.0), 'it ends once'


def test_without_a_duration_it_takes_the_longest_one() -> None:
    clock = TaskClock(TASKS)
    clock.start('screw', 0.0, 0.0)
    assert clock.remaining(0.0) == 20.0


def test_a_zone_counts_from_the_first_position_inside_to_the_first_one_outside() -> None:
    clock = TaskClock(TASKS)
    clock.start('place', 0.0, 0.0)
    assert clock.phase == Phase.WAITING
    outside, inside = np.array([0.4, 99.0, 0.0]), np.array([0.5, -99.0, 1.0])
    assert not clock.update(1.0, outside) and clock.phase == Phase.WAITING
    assert clock.update(2.0, inside) and clock.phase == Phase.WORKING
    assert not clock.update(2.1) and clock.phase == Phase.WORKING, 'no new position'
    assert clock.update(2.2, np.array([0.6, 0.0, 1.01])) and clock.task is None
    assert not clock.update(2.3, inside) and clock.phase == Phase.NONE, 'it does not come back'


@pytest.mark.parametrize('entered', [True, False])
def test_a_zone_ends_with_its_time_too(entered: bool) -> None:
    clock = TaskClock(TASKS)
    clock.start('place', 0.0, 4.0)
    inside = np.array([0.6, 0.0, 0.0])
    if entered:
        assert clock.update(1.0, inside)
    assert clock.update(4.0, inside) and clock.phase == Phase.NONE


def test_a_position_that_is_not_known_is_outside() -> None:
    assert BOX is not None
    assert BOX.contains(np.array([0.7, np.nan, -1.0]))
    assert not BOX.contains(np.array([0.6, 0.0, np.nan]))


def test_a_new_or_unknown_task_ends_the_one_before() -> None:
    clock = TaskClock(TASKS)
    clock.start('screw', 0.0, 0.0)
    clock.start('place', 1.0, 0.0)
    assert clock.task is TASKS[1]
    with pytest.raises(ControlError, match="no task 'weld', there is: screw, place"):
        clock.start('weld', 2.0, 1.0)
    assert clock.task is None and clock.phase == Phase.NONE
    with pytest.raises(ControlError, match=r'tasks\.names'):
        TaskClock().start('screw', 0.0, 0.0)


@pytest.mark.parametrize('duration', [-0.1, 20.1, float('nan'), float('inf')])
def test_a_duration_out_of_range_is_refused_and_ends_the_task_before(duration: float) -> None:
    clock = TaskClock(TASKS)
    clock.start('screw', 0.0, 0.0)
    with pytest.raises(ControlError, match='from 0 to 20 s'):
        clock.start('screw', 0.0, duration)
    assert clock.task is None


@pytest.mark.parametrize(
    'longest, values, text',
    [
        (0.0, {'mute': True}, 'above 0 s'), (float('inf'), {'mute': True}, 'finite'),
        (float('nan'), {'mute': True}, 'finite'), (1.0, {'sensitivity': 0.4}, '0.5'),
        (1.0, {'sensitivity': 2.1}, '2'), (1.0, {}, 'changes nothing'),
    ],
)  # fmt: skip
def test_tasks_that_make_no_sense_are_refused(longest: float, values: dict, text: str) -> None:
    with pytest.raises(ControlError, match=text):
        Task('screw', longest, **values)


def test_two_tasks_with_one_name_are_refused() -> None:
    with pytest.raises(ControlError, match='two tasks have one name'):
        TaskClock((TASKS[0], TASKS[0]))


@pytest.mark.parametrize(
    'names, low, high, text',
    [
        (['a'], [0.0], [], '1 joints, 1 lower and 0 upper'), (['x'], [0.0], [1.0], "'x'"),
        (['a', 'a'], [0.0, 0.0], [1.0, 1.0], 'twice'), (['a'], [1.0], [1.0], 'lower limit below'),
        (['a'], [float('-inf')], [1.0], 'finite'), (['a'], [float('nan')], [1.0], 'finite'),
    ],
)  # fmt: skip
def test_zones_that_make_no_sense_are_refused(
    names: list, low: list, high: list, text: str
) -> None:
    with pytest.raises(ControlError, match=text):
        zone_of(names, low, high, JOINTS)


def test_no_joint_is_no_zone() -> None:
    assert zone_of([], [], [], JOINTS) is None
