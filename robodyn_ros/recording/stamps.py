# SPDX-License-Identifier: Apache-2.0
"""Stamps in [ns], and the number of missing messages, estimated from stamps with jitter.

On a busy machine a publisher is late and then catches up in a burst, so that long steps do not
imply missing messages. The smallest delay within the messages after a long step does: if any of
them is on time, none is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError

BLOCK = 32
"""Messages after a gap of which at least one is on time, unless one is missing."""

GAP = 1.8
"""Shortest gap, in periods: below 2, the step where one sample is missing."""

COUNTED = 1024
"""Stamps of a publisher after which its gaps are counted."""


class MissingMessages:
    """Counter of messages that are missing from one publisher, updated with each stamp.

    :ivar late: stamps that do not advance
    :ivar largest: largest step, in [ns]
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self.largest = 0
        self.late = 0
        self._missing = 0
        self._pending: list[int] = []

    def add(self, stamp: int) -> None:
        """Add the stamp of a message, in [ns]."""
        if self.last is not None and stamp <= self.last:
            self.late += 1
            return
        if self.last is not None:
            self.largest = max(self.largest, stamp - self.last)
        self.last = stamp
        self._pending.append(stamp)
        if len(self._pending) > COUNTED:
            self._missing += self._count_missing(-BLOCK)
            self._pending = self._pending[-BLOCK - 1 :]

    @property
    def missing(self) -> int:
        """Number of missing messages so far; at the end it is provisional."""
        return self._missing + self._count_missing(None)

    def _count_missing(self, end: int | None) -> int:
        """Count the messages missing in the first steps between the pending stamps."""
        time = np.array(self._pending, dtype=float)
        steps = np.diff(time)
        if len(steps) < 2:
            return 0
        period = float(np.median(steps))
        return missing_in_gaps(time, period, np.flatnonzero(steps[:end] > GAP * period))


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
    """Estimate the samples missing in gaps.

    :param time: stamps, shape (N,), increasing
    :param period: usual period, in the same unit
    :param gaps: indices of the samples before the gaps
    """
    total = 0
    for gap in gaps:
        following = time[gap + 1 : gap + 1 + BLOCK] - time[gap]
        late = following / period - np.arange(1, len(following) + 1)
        total += max(0, round(float(late.min())))
    return total
