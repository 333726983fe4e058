# SPDX-License-Identifier: Apache-2.0
"""Cancellation and progress of long work.

The work calls `poll` between its blocks, and `progress` with what is completed. Functions deep
inside need no argument for that: both belong to the context of the thread, see `cancellable` and
`show_progress`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from robodyn_ros.errors import NO_FAULT, Fault, RobodynError

Item = TypeVar('Item')
Steps = Generator[None, None, Item]
"""Work in steps of a few milliseconds, for a node that reads messages between them."""
Show = Callable[[str, float], Any]
"""Function that shows a phase and its completed share, 0 to 1."""


class CancelledError(RobodynError):
    """The work was cancelled; it has published and written nothing."""

    usual = 'cancelled'


class Cancellation:
    """Request to end some work; any thread may make it.

    :ivar reason: first reason that was given; NO_FAULT until then
    """

    def __init__(self) -> None:
        self.reason = NO_FAULT

    def cancel(self, reason: Fault) -> None:
        """Request the end of the work; only the first reason counts.

        :param reason: not empty
        """
        self.reason = self.reason or reason


def complete(steps: Steps[Item]) -> Item:
    """Do all steps at once, and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Item = end.value
            return result


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


_SHOW: ContextVar[Show | None] = ContextVar('progress', default=None)


@contextmanager
def show_progress(show: Show) -> Iterator[None]:
    """Show the progress of the work inside, in this thread."""
    outer = _SHOW.get()
    _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.set(outer)


def progress(phase: str, share: float) -> None:
    """Report the completed share of a phase; outside of `show_progress` nothing happens."""
    show = _SHOW.get()
    if show is not None:
        show(phase, share)


def track(items: Sequence[Item], phase: str = '') -> Iterator[Item]:
    """Yield items; what their work reports becomes a share of the work on all of them.

    To be used in a loop: a loop that is left early must drop the generator.

    :param phase: reported at the start of each item; '': the work on an item reports its phases
    """
    outer = _SHOW.get()

    def show(number: int, phase: str, share: float) -> None:
        if outer is not None:
            outer(phase, (number + share) / len(items))

    for number, item in enumerate(items):
        if phase:
            show(number, phase, 0.0)
        with show_progress(partial(show, number)):
            yield item
