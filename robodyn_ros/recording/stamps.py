# SPDX-License-Identifier: Apache-2.0
"""Stamps in [ns], and the number of missing messages, estimated from stamps with jitter.

On a busy machine a publisher is late and then catches up in a burst, so that long steps do not
imply missing messages. The smallest delay within a block of messages does: if any message of the
block is on time, none is missing.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError

BLOCK = 32
"""Messages of which at least one is on time, unless one is missing."""

TAIL = 4
"""The same at the end of the messages, where the count is provisional."""


class MissingMessages:
    """Counter of messages that are missing from one publisher, updated with each stamp."""

    def __init__(self) -> None:
        """Start without a message."""
        self.last: int | None = None
        self.largest = 0
        self.late = 0
        self._missing = 0
        self._anchor = 0.0
        self._pending: list[int] = []
        self._means: Counter[int] = Counter()

    def add(self, stamp: int) -> None:
        """Add the stamp of a message, in [ns]; a stamp that does not advance counts as `late`."""
        if self.last is None:
            self.last, self._anchor = stamp, float(stamp)
            return
        if stamp <= self.last:
            self.late += 1
            return
        self.largest = max(self.largest, stamp - self.last)
        self.last = stamp
        self._pending.append(stamp)
        # After four blocks the period of the publisher is known.
        if len(self._pending) >= (BLOCK if self._means else 4 * BLOCK):
            self._settle()

    @property
    def missing(self) -> int:
        """Number of missing messages so far."""
        return max(0, self._missing + self._count_lost(self._pending, self._anchor)[0])

    def _settle(self) -> None:
        """Count missing messages in the pending block, and update the period from it."""
        lost, self._anchor = self._count_lost(self._pending, self._anchor)
        self._missing += lost
        for first in range(0, len(self._pending), BLOCK):
            block = self._pending[first : first + BLOCK]
            mean = (block[-1] - block[0]) / (BLOCK - 1)
            self._means[max(1, 1000 * round(mean / 1000))] += 1
        self._pending.clear()

    def _count_lost(self, stamps: list[int], anchor: float) -> tuple[int, float]:
        """Return the messages missing and the time at which the last one was due, in [ns]."""
        total = 0
        period = self._period(stamps)
        for first in range(0, len(stamps), BLOCK):
            block = stamps[first : first + BLOCK]
            start = 0 if len(block) == BLOCK else max(0, len(block) - TAIL)
            late = min(
                (stamp - anchor) / period - number
                for number, stamp in enumerate(block[start:], start=start + 1)
            )
            total += round(late)
            # Half of the residual follows the drift of an inexact period; all of it would let
            # the rounding of jitter add up.
            anchor += (len(block) + 0.5 * (round(late) + late)) * period
        return total, anchor

    def _period(self, stamps: list[int]) -> float:
        """Return the usual period, in [ns]: the median over blocks of their mean step."""
        if not self._means:  # too few means yet: one loss would falsify them
            return float(np.median(np.diff(stamps))) if len(stamps) > TAIL else np.inf
        seen, total = 0, self._means.total()
        for mean in sorted(self._means):
            seen += self._means[mean]
            if 2 * seen >= total:
                break
        return float(mean)


def stamps_of(time: NDArray[np.float64], origin: int, source: str) -> NDArray[np.int64]:
    """Return stamps in [ns] since the epoch, shape (N,).

    :param time: shape (N,), in [s], increasing
    :param origin: epoch time of time 0, in [ns]
    :raises RecordingError: a stamp does not fit into a ROS time
    """
    stamps = origin + np.rint(time * 1e9).astype(np.int64)
    if stamps[0] < 0 or stamps[-1] >= 2**31 * 10**9:
        raise RecordingError(
            f'{source}: stamps from {stamps[0]} to {stamps[-1]} ns do not fit into a '
            'ROS time (0 to 2^31 s)'
        )
    return np.asarray(stamps, dtype=np.int64)


def missing_in_gaps(time: NDArray[np.float64], period: float, gaps: NDArray[np.intp]) -> int:
    """Estimate the samples missing in gaps of a recording.

    :param time: stamps, shape (N,), in [s], increasing
    :param period: usual period, in [s]
    :param gaps: indices of the samples before the gaps
    """
    total = 0
    for gap in gaps:
        following = time[gap + 1 : gap + 1 + BLOCK] - time[gap]
        late = following / period - np.arange(1, len(following) + 1)
        total += max(0, round(float(late.min())))
    return total
