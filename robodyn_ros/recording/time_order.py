# SPDX-License-Identifier: Apache-2.0
"""Samples whose times are in order, where messages came late or a clock was set."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.recording.jumps import GAP


def in_order(time: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a largest set of samples with times in order, shape (N,).

    Samples without a gap or a step back between them are kept or left out together. So the set
    leaves out late messages, and all samples of a clock that was wrong for a while, also one that
    went ahead.

    :param time: shape (N,), in [s]
    """
    steps = np.diff(time)
    kept = np.ones(len(time), dtype=bool)
    if (steps >= 0.0).all():
        return kept
    cuts = np.flatnonzero((steps < 0.0) | (steps > GAP * np.median(steps))) + 1
    bounds = np.concatenate([[0], cuts, [len(time)]])
    wanted = _heaviest_chain(time[bounds[:-1]], time[bounds[1:] - 1], np.diff(bounds))
    kept[:] = np.repeat(wanted, np.diff(bounds))
    return kept


def _heaviest_chain(
    start: NDArray[np.float64], end: NDArray[np.float64], weight: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which segments (S,) form the heaviest chain where none starts before the last ends.

    Dynamic programming: `ends` and `weights` are the chains so far that no other one exceeds with
    an earlier end, both increasing.
    """
    ends: list[float] = []
    weights: list[int] = []
    chains: list[int] = []
    before = np.full(len(start), -1)
    for number, (first, last, own) in enumerate(
        zip(start.tolist(), end.tolist(), weight.tolist(), strict=True)
    ):
        place = bisect_right(ends, first) - 1
        if place >= 0:
            before[number] = chains[place]
            own += weights[place]
        low = bisect_left(ends, last)
        high = bisect_right(weights, own)
        if low <= high:  # otherwise a chain with an earlier end is heavier
            ends[low:high], weights[low:high], chains[low:high] = [last], [own], [number]
    wanted = np.zeros(len(start), dtype=bool)
    number = chains[-1]
    while number >= 0:
        wanted[number] = True
        number = int(before[number])
    return wanted
