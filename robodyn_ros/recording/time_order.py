# SPDX-License-Identifier: Apache-2.0
"""Samples whose times are in order, where messages came late or a clock was set."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

GAP = 2.5
"""Longest time between two samples, in periods, over which others are interpolated."""


def in_order(time: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a largest set of samples with times in order, shape (N,).

    It leaves out late messages, and the samples of a clock that was wrong for a while. Of a clock
    that was set back a little for good, only as many samples are left out as times occur twice.

    :param time: shape (N,), in [s]
    """
    kept: NDArray[np.bool_] = time >= np.maximum.accumulate(time)
    kept &= time <= np.minimum.accumulate(time[::-1])[::-1]
    others = np.flatnonzero(~kept)  # those in order with all samples are in the set
    kept[others[_longest(time[others])]] = True
    return kept


def at_times(
    wanted: NDArray[np.float64], known: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interpolate values at other times; NaN outside of them and in gaps longer than `GAP`.

    :param wanted: shape (M,), in [s]
    :param known: times of the values, shape (N,), increasing
    :param values: shape (N,) or (N, n)
    """
    columns = [np.interp(wanted, known, column) for column in values.reshape(len(known), -1).T]
    result = np.stack(columns, axis=1).reshape(len(wanted), *values.shape[1:])
    after = np.searchsorted(known, wanted).clip(1, len(known) - 1)
    steps = np.diff(known)
    inside = (known[0] <= wanted) & (wanted <= known[-1])
    result[~inside | ((steps > GAP * np.median(steps))[after - 1] & ~np.isin(wanted, known))] = (
        np.nan
    )
    return result


def _longest(values: NDArray[np.float64]) -> list[int]:
    """Return the places of a longest subsequence without a step down, by patience sorting.

    `last` has the smallest last value of a subsequence of each length, `places` its place.
    """
    last: list[float] = []
    places: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values.tolist()):
        length = bisect_right(last, value)
        before.append(places[length - 1] if length else -1)
        last[length : length + 1] = [value]
        places[length : length + 1] = [place]
    chosen = []
    place = places[-1] if places else -1
    while place >= 0:
        chosen.append(place)
        place = before[place]
    return chosen
