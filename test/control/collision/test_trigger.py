# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.trigger import ReactionTrigger
from robodyn_ros.errors import ControlError

SETTINGS = CollisionSettings(joints=('a', 'b'), max_torque_error=[10.0, 5.0], low_velocity=0.1)
FAST, SLOW, NEVER = np.array([0.5, -0.3]), np.array([0.05, 0.0]), np.full(2, np.nan)


def state(*, latched=False, settled=True, message='ok'):
    return SimpleNamespace(latched=latched, settled=settled, message=message)


def test_a_collision_starts_once_until_it_is_cleared() -> None:
    trigger = ReactionTrigger(SETTINGS)
    assert not trigger.update(state(), FAST)
    hit = state(latched=True, message='collision at b')
    assert trigger.update(hit, FAST) and trigger.reason == 'collision at b'
    assert not any(trigger.update(hit, FAST) for _ in range(5))
    trigger.clear()
    assert trigger.reason == '' and trigger.update(hit, FAST)


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
