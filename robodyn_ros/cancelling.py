# SPDX-License-Identifier: Apache-2.0
"""Cancellation of long work in another thread.

The work calls `poll` between its blocks. Functions deep inside need no argument for that: the
cancellation belongs to the context of the thread, see `cancellable`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from robodyn_ros.errors import NO_FAULT, Fault, RobodynError


class CancelledError(RobodynError):
    """The work was cancelled; it has published and written nothing."""

    usual = 'cancelled'


class Cancellation:
    """Request to end some work; any thread may make it.

    :ivar reason: first reason that was given; NO_FAULT until then
    """

    def __init__(self) -> None:
        """Start without a request."""
        self.reason = NO_FAULT

    def cancel(self, reason: Fault) -> None:
        """Request the end of the work; only the first reason counts.

        :param reason: not empty
        """
        self.reason = self.reason or reason


_CURRENT: ContextVar[Cancellation | None] = ContextVar('cancellation', default=None)


@contextmanager
def cancellable(cancellation: Cancellation) -> Iterator[None]:
    """Let `poll` end the work inside, in this thread, when it is cancelled."""
    token = _CURRENT.set(cancellation)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def poll() -> None:
    """End the work of this thread if it is cancelled; outside of `cancellable` nothing happens.

    :raises CancelledError: with the reason
    """
    current = _CURRENT.get()
    if current is not None and current.reason:
        raise CancelledError(current.reason)
