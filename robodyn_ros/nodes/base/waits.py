# SPDX-License-Identifier: Apache-2.0
"""Waiting for another node inside a coroutine, with a timeout and a reason."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from robodyn_ros.errors import IdentificationError
from robodyn_ros.nodes.base.background import Background

Check = Callable[[], object]
"""Called while waiting; an error that it raises ends the wait."""
DISCOVERY = 3.0
"""Real time in which DDS discovers what runs already, in [s]: it announces a node every 3 s."""


class WaitError(IdentificationError):
    """The awaited event did not occur."""

    usual = 'node_missing'


async def until(
    background: Background,
    done: Callable[[], bool],
    timeout: float,
    what: str,
    *checks: Check,
    discovery: bool = False,
) -> None:
    """Wait while the node continues to spin.

    :param timeout: in [s]
    :param what: name of the event in messages, such as 'service recorder/start'
    :param discovery: wait in real time, as DDS discovers, also if a simulation is faster
    :raises WaitError: timeout
    :raises RobodynError: what a check raises
    """
    clock = time.monotonic if discovery else background.now
    deadline = clock() + timeout
    while not done():
        for check in checks:
            check()
        if clock() > deadline:
            raise WaitError(f'{what} did not come within {timeout:g} s: is that node running?')
        await background.tick()


async def answer(
    background: Background, client: Any, request: Any, timeout: float, *checks: Check
) -> Any:
    """Call a service that is ready and wait for its answer.

    :param timeout: in [s]
    :raises RobodynError: as `until`
    """
    future = client.call_async(request)
    try:
        what = f'the answer of service {client.srv_name}'
        await until(background, future.done, timeout, what, *checks)
    except BaseException:
        client.remove_pending_request(future)
        raise
    return future.result()
