# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.control.collision.reaction.trigger import ReactionTrigger, release_problem
from robodyn_ros.control.collision.settings import CollisionSettings
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


def test_a_collision_starts_once_and_gives_the_direction_away_from_it() -> None:
    trigger = ReactionTrigger(SETTINGS)
    assert not trigger.update(state(), FAST)
    hit = state((1.0, -9.0), latched=True, message='collision at b')
    assert trigger.update(hit, FAST)
    assert trigger.reason == 'collision at b' and trigger.allowed.tolist() == [0, -1]
    assert not any(trigger.update(hit, FAST) for _ in range(5))
    trigger.clear()
    assert trigger.allowed.tolist() == [0, 0] and trigger.reason == ''


@pytest.mark.parametrize(('velocity', 'again'), [(0.3, True), (0.0, False), (-0.3, False)])
def test_a_latched_collision_reacts_again_only_when_moving_into_the_contact(
    velocity: float, again: bool
) -> None:
    trigger = ReactionTrigger(SETTINGS)
    motion = np.array([0.0, velocity])
    hit = state((0.0, -9.0), latched=True)
    assert trigger.update(hit, FAST)
    assert not any(trigger.update(hit, motion) for _ in range(9)), 'it has not been calm'
    assert not trigger.update(state(latched=True), SLOW)
    assert any(trigger.update(hit, motion) for _ in range(3)) is again


def test_a_torque_error_that_swings_while_the_robot_brakes_is_one_contact() -> None:
    trigger = ReactionTrigger(SETTINGS)
    into, back = np.array([0.0, 0.3]), np.array([0.0, -0.3])
    hit, free = state((0.0, -9.0), latched=True), state(latched=True)
    assert trigger.update(hit, into)
    for sample in (free, hit, hit, hit, hit) * 3:
        assert not trigger.update(sample, into), 'it still brakes: a reaction is going on'
    for _ in range(5):
        assert not trigger.update(hit, back), 'on its way back'
    behind = state((0.0, 9.0), latched=True)
    assert not trigger.update(free, back)
    assert any(trigger.update(behind, back) for _ in range(3)), 'something is behind it'
    assert trigger.allowed.tolist() == [0, 1]


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
    assert ReactionTrigger(SETTINGS).reason == ''
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
    assert not trigger.update(state((11.0, 0.0), latched=True), FAST, muted=True)
    assert trigger.update(state(settled=False), FAST, muted=True)


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


def test_after_braking_a_jog_of_other_joints_into_their_contact_hides_no_collision() -> None:
    trigger = ReactionTrigger(SETTINGS)
    both, free = state((11.0, 6.0), latched=True), state(latched=True)
    assert trigger.update(both, -FAST * [1.0, -1.0])
    assert trigger.allowed.tolist() == [1, 1]
    for _ in range(5):
        trigger.update(both, np.zeros(2))  # it is held while it is pressed
    jog = np.array([0.4, -0.2])
    assert not any(trigger.update(free, jog) for _ in range(5))
    assert any(trigger.update(state((-40.0, 0.0), latched=True), jog) for _ in range(3))
