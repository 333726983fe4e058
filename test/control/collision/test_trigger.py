# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.trigger import ReactionTrigger, release_problem
from robodyn_ros.errors import ControlError

SETTINGS = CollisionSettings(
    joints=('a', 'b'), max_torque_error=[10.0, 5.0], contact_threshold=[6.0, 3.0], low_velocity=0.1
)
FAST, SLOW, NEVER = np.array([0.5, -0.3]), np.array([0.05, 0.0]), np.full(2, np.nan)


def state(error=(0.0, 0.0), *, latched=False, settled=True, message='ok'):
    return SimpleNamespace(
        settings=SETTINGS, compared=np.array(error), threshold=np.array([10.0, 5.0]),
        contact_threshold=np.array([6.0, 3.0]),
        latched=latched, settled=settled, message=message,
    )  # fmt: skip


def test_a_collision_starts_once_until_it_is_cleared() -> None:
    trigger = ReactionTrigger(SETTINGS)
    assert not trigger.update(state(), FAST)
    hit = state(latched=True, message='collision at b')
    assert trigger.update(hit, FAST) and trigger.reason == 'collision at b'
    assert not any(trigger.update(hit, FAST) for _ in range(5))
    trigger.clear()
    assert trigger.reason == '' and trigger.update(hit, FAST)


@pytest.mark.parametrize(('velocity', 'again'), [(SLOW, True), (FAST, False), (NEVER, False)])
def test_the_next_collision_starts_again_though_the_first_is_latched(velocity, again) -> None:
    trigger, hit = ReactionTrigger(SETTINGS), state((0.0, -9.0), latched=True)
    assert trigger.update(hit, FAST)
    assert not any(trigger.update(hit, velocity) for _ in range(9)), 'the same contact'
    assert not trigger.update(state(latched=True), velocity), (
        'the robot is free, and at rest or not'
    )
    starts = [trigger.update(hit, FAST) for _ in range(9)]
    assert sum(starts) == again and not starts[0], 'after the debounce'


@pytest.mark.parametrize(
    ('error', 'settled', 'words'),
    [
        ((6.0, 3.0), True, ''), ((0.0, -3.1), True, 'joint b is still 3.1'),
        ((np.nan, 0.0), True, 'joint a'), ((0.0, 0.0), False, 'unknown: no data'),
    ],
)  # fmt: skip
def test_release_needs_valid_torque_errors_below_the_contact_thresholds(
    error: tuple[float, float], settled: bool, words: str
) -> None:
    problem = release_problem(state(error, settled=settled, message='no data'))
    assert words in problem and bool(problem) is bool(words)


def test_loss_of_data_starts_a_reaction_only_after_valid_data_while_moving() -> None:
    lost = state(settled=False, message='no joint states for 0.06 s')
    for velocity in (NEVER, FAST):  # start-up
        assert not ReactionTrigger(SETTINGS, on_unknown='stop').update(lost, velocity)
    for words, velocity, starts in [
        ('stop', FAST, True), ('stop', SLOW, False), ('warn', FAST, False),
    ]:  # fmt: skip
        trigger = ReactionTrigger(SETTINGS, on_unknown=words)
        assert not trigger.update(state(), velocity)
        assert trigger.update(lost, velocity) is starts
        assert not trigger.update(lost, velocity), 'once'
    trigger = ReactionTrigger(SETTINGS, on_unknown='stop')
    trigger.update(state(), FAST)
    trigger.expect_unknown()
    assert not trigger.update(lost, FAST), 'a payload was changed, or the node was activated'
    with pytest.raises(ControlError, match='stop or warn'):
        ReactionTrigger(SETTINGS, on_unknown='off')


def test_the_reason_names_joint_speed_and_cause() -> None:
    trigger = ReactionTrigger(SETTINGS, on_unknown='stop')
    trigger.update(state(), FAST)
    trigger.update(state(settled=False, message='the sample is not finite'), FAST)
    assert trigger.reason == (
        'UNKNOWN while joint a moved at 0.5 per second: the sample is not finite'
    )


def test_muted_collisions_start_nothing_but_loss_of_data_does() -> None:
    trigger = ReactionTrigger(SETTINGS, on_unknown='stop')
    assert not trigger.update(state(latched=True), FAST, muted=True)
    assert trigger.update(state(settled=False), FAST, muted=True)
