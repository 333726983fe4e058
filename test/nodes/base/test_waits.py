# SPDX-License-Identifier: Apache-2.0
"""Waits end: with what is waited for, with a reason, or with their time."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from robodyn_ros.long_work import CancelledError
from robodyn_ros.nodes.base.waits import WaitError, answer, until

BACKGROUND = SimpleNamespace(tick=lambda: asyncio.sleep(0.001), now=time.monotonic)


def wait(done, timeout=5.0, *checks):
    asyncio.run(until(BACKGROUND, done, timeout, 'service x', *checks))


def test_it_ends_when_it_is_done():
    rows = []
    wait(lambda: rows.append(1) or len(rows) > 3)
    assert len(rows) == 4


def test_it_ends_with_its_time_and_names_what_was_waited_for():
    with pytest.raises(WaitError, match=r'service x did not come within 0\.01 s: is that node'):
        wait(lambda: False, 0.01)


def test_it_ends_with_the_error_of_a_check():
    def gone():
        raise CancelledError('it is gone')

    calls = []
    with pytest.raises(CancelledError, match='it is gone'):
        wait(lambda: False, 5.0, lambda: calls.append(1), gone)
    assert calls == [1]


def test_a_request_without_answer_is_forgotten():
    removed = []
    pending = SimpleNamespace(done=lambda: False)
    client = SimpleNamespace(
        srv_name='/x', call_async=lambda _: pending, remove_pending_request=removed.append
    )
    with pytest.raises(WaitError, match='the answer of service /x did not come'):
        asyncio.run(answer(BACKGROUND, client, None, 0.01))
    assert removed == [pending]
    pending = SimpleNamespace(done=lambda: True, result=lambda: 'answer')
    assert asyncio.run(answer(BACKGROUND, client, None, 5.0)) == 'answer'


def test_discovery_takes_real_time_however_fast_a_simulation_is():
    fast = SimpleNamespace(tick=BACKGROUND.tick, now=lambda: 1e3 * time.monotonic())
    begin = time.monotonic()
    found = lambda: time.monotonic() > begin + 0.05  # noqa: E731
    asyncio.run(until(fast, found, 5.0, 'service x', discovery=True))
    with pytest.raises(WaitError):
        asyncio.run(until(fast, lambda: False, 5.0, 'service x'))
