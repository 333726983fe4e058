# SPDX-License-Identifier: Apache-2.0
"""Waits end: with what is waited for, with a reason, or with their time."""

import asyncio
from types import SimpleNamespace

import pytest

from robodyn_ros.nodes.base.waits import WaitError, answer, until

BACKGROUND = SimpleNamespace(tick=lambda: asyncio.sleep(0.001))


def wait(done, timeout=5.0, check=lambda: ''):
    asyncio.run(until(BACKGROUND, done, timeout, 'service x', check))


def test_it_ends_when_it_is_done():
    rows = []
    wait(lambda: rows.append(1) or len(rows) > 3)
    assert len(rows) == 4


def test_it_ends_with_its_time_and_names_what_was_waited_for():
    with pytest.raises(WaitError, match=r'service x did not come within 0\.01 s: is that node'):
        wait(lambda: False, 0.01)


def test_it_ends_with_a_reason():
    with pytest.raises(WaitError, match='it is gone'):
        wait(lambda: False, check=lambda: 'it is gone')


def test_a_request_without_answer_is_forgotten():
    removed = []
    pending = SimpleNamespace(done=lambda: False)
    client = SimpleNamespace(
        srv_name='/x', call_async=lambda _: pending, remove_pending_request=removed.append
    )
    with pytest.raises(WaitError, match='the answer of service /x did not come'):
        asyncio.run(answer(BACKGROUND, client, None, 0.01, lambda: ''))
    assert removed == [pending]
    pending = SimpleNamespace(done=lambda: True, result=lambda: 'answer')
    assert asyncio.run(answer(BACKGROUND, client, None, 5.0, lambda: '')) == 'answer'
