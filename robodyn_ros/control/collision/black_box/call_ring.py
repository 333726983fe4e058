# SPDX-License-Identifier: Apache-2.0
"""Ring of the last calls of a detector with their results, reserved at the start."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.control.collision.black_box.detector_state import State
from robodyn_ros.models.interface import Array

Motion = tuple[Array, Array] | None
Call = tuple[int, str, Any]
"""Row, name and argument of a call other than `update`."""


@dataclass(frozen=True)
class Rows:
    """Consecutive calls of a detector.

    :param state: of the detector before the first row
    :param stamps: of the samples, in [ns], shape (N,); without meaning in rows of other calls
    :param times: of the computer, in [ns] since the epoch, shape (N,)
    :param samples: position, velocity and effort as received, then position and velocity of the
        reference (NaN: none), shape (N, 5, n)
    :param results: torque error and threshold after the call, shape (N, 2, n), in [Nm] or [N]
    :param level: after the call, shape (N, n)
    :param calls: the rows that are no samples
    :param messages: row and text, where the text of the detector changed
    """

    state: State
    stamps: NDArray[np.int64]
    times: NDArray[np.int64]
    samples: Array
    results: Array
    level: NDArray[np.uint8]
    calls: tuple[Call, ...]
    messages: tuple[tuple[int, str], ...]


class CallRing:
    """The last calls, and the state of the detector before some of them.

    :ivar count: calls since the start
    """

    def __init__(self, *, width: int, capacity: int, every: int) -> None:
        """Reserve the memory.

        :param every: calls between two copies of the state
        """
        self.count = 0
        self._capacity, self._every = capacity, every
        self._stamps = np.zeros(capacity, dtype=np.int64)
        self._times = np.zeros(capacity, dtype=np.int64)
        self._samples = np.full((capacity, 5, width), np.nan)
        self._results = np.zeros((capacity, 2, width))
        self._level = np.zeros((capacity, width), dtype=np.uint8)
        self._calls: list[tuple[str, Any] | None] = [None] * capacity
        self._messages = [''] * capacity
        self._states: deque[tuple[int, State]] = deque(maxlen=capacity // every + 1)

    @property
    def wants_state(self) -> bool:
        """True if the state before the next call must be stored."""
        return self.count % self._every == 0

    def put_state(self, state: State) -> None:
        """Store the state before the next call."""
        self._states.append((self.count, state))

    def put_sample(self, stamp: int, q: Array, qd: Array, effort: Array, motion: Motion) -> None:
        """Store the sample of the next call; `stamp` in [ns]."""
        at = self.count % self._capacity
        self._stamps[at] = stamp
        row = self._samples[at]
        row[0], row[1], row[2] = q, qd, effort
        row[3:] = np.nan if motion is None else motion
        self._calls[at] = None

    def put_call(self, name: str, argument: Any) -> None:
        """Store the next call, which is no sample."""
        at = self.count % self._capacity
        self._stamps[at] = self._stamps[at - 1]
        self._calls[at] = (name, argument)

    def put_result(self, detector: Any) -> None:
        """Store the result of the call and go to the next one."""
        at = self.count % self._capacity
        self._times[at] = time.time_ns()
        self._results[at, 0] = detector.torque_error
        self._results[at, 1] = detector.threshold
        self._level[at] = detector.level
        self._messages[at] = detector.message
        self.count += 1

    def rows(self, first_time: int, end: int) -> Rows | None:
        """Copy calls; may run in another thread while the ring goes on.

        :param first_time: computer time of the first call, in [ns]; the copy starts at the last
            stored state before it, or else at the oldest state in the ring
        :param end: count of the calls at the end of the copy
        :return: None if the ring has overwritten all states before `end`
        """
        starts = [row for row, _ in tuple(self._states) if self._kept(row) and row < end]
        if not starts:
            return None
        early = [row for row in starts if self._times[row % self._capacity] <= first_time]
        start = early[-1] if early else starts[0]
        state = dict(tuple(self._states))[start]
        order = np.arange(start, end) % self._capacity
        calls = [self._calls[at] for at in order]
        texts = [self._messages[at] for at in order]
        rows = Rows(
            state=state,
            stamps=self._stamps[order],
            times=self._times[order],
            samples=self._samples[order],
            results=self._results[order],
            level=self._level[order],
            calls=tuple((row, *call) for row, call in enumerate(calls) if call is not None),
            messages=_changes(texts),
        )
        return rows if self._kept(start) else self.rows(first_time, end)

    def _kept(self, row: int) -> bool:
        """Return True if the ring will not overwrite a row during the next 100 calls."""
        return self.count - row <= self._capacity - 100


def _changes(texts: list[str]) -> tuple[tuple[int, str], ...]:
    """Return row and text of those that differ from the previous one."""
    before = [None, *texts]
    return tuple(
        (row, text)
        for row, (text, old) in enumerate(zip(texts, before, strict=False))
        if text != old
    )
