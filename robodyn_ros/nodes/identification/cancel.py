"""Cancel of an identification, which is noticed in every phase."""

from __future__ import annotations

import time
from typing import Any

from robodyn_ros.errors import RobodynError

CANCEL_TIMEOUT = 10.0
"""Longest time that a computation may take to notice a cancel, in [s]; then it is left alone."""


class CancelledError(RobodynError):
    """The goal was cancelled."""


def cancelled(handle: Any) -> RobodynError | None:
    """Error of a goal that is to be cancelled, or None."""
    if handle is not None and handle.is_cancel_requested:
        return CancelledError('cancelled, nothing was identified')
    return None


class Cancel:
    """Ends a computation when its goal is cancelled: in its thread, and the wait for it."""

    def __init__(self, handle: Any) -> None:
        """Prepare for a goal; None: nobody can cancel."""
        self._handle = handle
        self._ended = False
        self._deadline = float('inf')

    def progress(self, phase: str, share: float) -> None:
        """End the computation, in its thread.

        :raises CancelledError: the goal is cancelled
        """
        if self._ended or cancelled(self._handle):
            raise CancelledError('cancelled while identifying: nothing was written')

    def check(self) -> None:
        """End the wait for a computation that does not end.

        :raises CancelledError: it has not noticed the cancel for CANCEL_TIMEOUT
        """
        if cancelled(self._handle):
            self._deadline = min(self._deadline, time.monotonic() + CANCEL_TIMEOUT)
        if time.monotonic() > self._deadline:
            self._ended = True
            raise CancelledError(
                'cancelled while identifying: the computation ends later and writes nothing'
            )
