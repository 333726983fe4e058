# SPDX-License-Identifier: Apache-2.0
"""Progress and cancel of an identification, which is noticed in every phase.

A computation takes real time, also beside a simulation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from robodyn_ros.long_work import CancelledError
from robodyn_ros.nodes.base.presence import MISSING


def check_cancel(handle: Any) -> None:
    """End the work on a goal that is to be cancelled.

    :raises CancelledError: it is
    """
    if handle.is_cancel_requested:
        raise CancelledError('cancelled, nothing was identified')


class Cancel:
    """Ends a computation when its goal is cancelled: in its thread, and the wait for it.

    Between these it hands on the progress of the computation, from its thread to the wait.
    """

    def __init__(
        self, handle: Any, tell: Callable[[float, str], None] = lambda share, text: None
    ) -> None:
        """Prepare for a goal; None: it cannot be cancelled.

        :param tell: called while waiting, with the completed share of a step and a sentence
        """
        self._handle = handle
        self._tell = tell
        self._step, self._started = '', 0.0
        self._progress = self._reported = (0.0, '')
        self._ended = False
        self._deadline = float('inf')

    @property
    def _requested(self) -> bool:
        return self._handle is not None and self._handle.is_cancel_requested

    def progress(self, phase: str, share: float) -> None:
        """Note the progress, or end the computation, in its thread.

        :raises CancelledError: the goal is cancelled
        """
        now = time.monotonic()
        if phase != self._step:
            self._step, self._started = phase, now
        left = (now - self._started) * (1.0 - share) / share if share else 0.0
        text = f'{phase}, about {left:.0f} s to the end of this step' if left else phase
        self._progress = (share, text)
        if self._ended or self._requested:
            raise CancelledError('cancelled while identifying: nothing was written')

    def end(self) -> None:
        """End the computation at its next progress: the node ends."""
        self._ended = True

    def check(self) -> None:
        """Report the progress; end the wait for a computation that does not end.

        :raises CancelledError: it has not noticed the cancel for `MISSING`
        """
        if self._progress != self._reported:
            self._reported = self._progress
            self._tell(*self._reported)
        if self._requested:
            self._deadline = min(self._deadline, time.monotonic() + MISSING)
        if time.monotonic() > self._deadline:
            self._ended = True
            raise CancelledError(
                'cancelled while identifying: the computation ends later and writes nothing'
            )
