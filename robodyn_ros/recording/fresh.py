"""Values that were measured, and values that only repeat the sample before.

Drivers publish more often than drives measure, and take position and torque at different instants.
Each signal is therefore examined for itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]

OFTEN_REPEATED = 0.05
"""Share of the changes of a signal that end a run of repeats; more of them are no standstill."""

COARSE = 3.5
"""Changes in smallest steps, up to which a repeat may be a motion below the resolution."""

FEWEST = 24
"""Changes from which on a rate of updates is looked for: as many samples as a filter needs."""


def fresh(values: Array) -> Rows:
    """Return which values (N, k) are measurements, shape (N, k).

    A signal is updated less often than recorded if many of its changes follow repeats, although
    most changes are several of its smallest steps. Its repeats are then no measurements, except in
    runs far longer than usual, in which it was constant. A signal with coarse steps repeats at
    slow motion too; it is taken to be updated with the others, if all these are updated less often
    than recorded. So is a constant one.
    """
    taken: Rows = np.ones(values.shape, dtype=bool)
    new: Rows = np.ones(values.shape, dtype=bool)
    new[1:] = values[1:] != values[:-1]
    changes = new[1:].sum(axis=0)
    often = (~new[:-1] & new[1:]).sum(axis=0) > OFTEN_REPEATED * changes
    often &= changes >= FEWEST
    fine = [
        np.median(sizes) > COARSE * np.quantile(sizes, 0.01)
        for column in np.flatnonzero(often)
        for sizes in [np.abs(np.diff(values[new[:, column], column]))]
    ]
    still = changes == 0
    held = often.copy()
    if not (any(fine) and (often | still).all()):
        held[often] = fine
    for column in np.flatnonzero(held):
        starts = np.flatnonzero(new[:, column])
        length = np.diff(np.append(starts, len(new)))
        usual = length <= 2.0 * np.quantile(length, 0.9)
        taken[:, column] = new[:, column] | ~np.repeat(usual, length)
        taken[0, column] = not usual[0]  # when its first value was measured is unknown
    if held.any() and (held | still).all():
        taken[:, still] = taken[:, held].any(axis=1, keepdims=True)
    return taken


def update_rate(time: Array, taken: Rows) -> float:
    """Return the lowest rate at which one of the signals is updated, in [Hz].

    :param time: shape (N,), in [s]
    :param taken: which values are measurements, shape (N, k)
    """
    return float(min(1.0 / np.median(np.diff(time[rows])) for rows in taken.T))
