# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from robodyn_ros.control.collision.reaction.retry import Retry


def test_due_at_once_then_with_the_period_until_acknowledged() -> None:
    retry = Retry(0.2)
    assert not retry.due(0.0) and not retry.pending
    retry.start(1.0)
    moments = [1.0 + 0.01 * step for step in range(100)]
    assert sum(retry.due(moment) for moment in moments) == 5 == retry.attempts
    retry.acknowledge()
    assert not retry.due(5.0) and not retry.pending and retry.attempts == 5


def test_wait_postpones_the_next_attempt_only() -> None:
    retry = Retry(0.2)
    retry.start(0.0)
    assert retry.due(0.0)
    retry.wait(1.0)
    assert not retry.due(0.9)
    assert retry.due(1.0) and not retry.due(1.1) and retry.due(1.3)
    retry.stop()
    assert retry.attempts == 0 and not retry.due(9.0)
