# SPDX-License-Identifier: Apache-2.0
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
"""Share of the samples that end a run of repeats of all signals; more are no standstill."""

MANY = 0.25
"""Share of the changes of one signal that end a run of repeats; fewer may be slow motion."""

COARSE = 3.5
"""Changes in smallest steps, up to which a repeat may be a motion below the resolution, and a
stroke is none: at rest an encoder changes by one step either way."""

FEWEST = 24
"""Changes from which on a rate of updates is looked for: as many samples as a filter needs."""


def fresh(values: Array) -> Rows:
    """Return which values (N, k) are measurements, shape (N, k).

    A signal is updated less often than recorded if many of its changes follow repeats, and these
    changes are several of its smallest steps. Its repeats are then no measurements, except in runs
    far longer than usual, in which it was constant. Repeats of all signals together are none
    either where they are frequent.

    A signal with coarse steps repeats at slow motion too. Where all others are updated less often
    than recorded, it is taken to be updated as often as the slowest of them.
    """
    taken: Rows = np.ones(values.shape, dtype=bool)
    new: Rows = np.ones(values.shape, dtype=bool)
    new[1:] = values[1:] != values[:-1]
    changes = new[1:].sum(axis=0)
    after: Rows = ~new[:-1] & new[1:]
    unclear = changes == 0
    slowest = 0
    for column in np.flatnonzero((after.sum(axis=0) > MANY * changes) & (changes >= FEWEST)):
        steps = np.abs(np.diff(values[:, column]))
        if np.median(steps[np.flatnonzero(after[:, column])]) > COARSE * _smallest(steps):
            length = _lengths(new[:, column])
            step = int(np.median(length))
            repeats = length <= 4.0 * np.quantile(length, 0.9)
            taken[:, column] = _updates(length, repeats, step)
            slowest = max(slowest, step)
        else:
            unclear[column] = True
    if slowest and (unclear | ~taken.all(axis=0)).all():
        for column in np.flatnonzero(unclear):
            length = _lengths(new[:, column])
            taken[:, column] = _updates(length, np.zeros(len(length), dtype=bool), slowest)
    same = np.asarray(~new.any(axis=1))
    ended = np.append(False, same[:-1] & ~same[1:])
    often = not slowest and ended.mean() > OFTEN_REPEATED
    if often and (not unclear.all() or _together(new, ended)):
        taken[same] = False
    return taken


def _together(new: Rows, ended: Rows) -> bool:
    """Return True if signals change together after repeats, as those of one message do.

    Signals that change independently of each other, and leave as many samples without any change,
    change in fewer of the samples that follow. Half of the way from these to all is beyond chance.

    :param new: changes of each signal, shape (N, k)
    :param ended: samples with a change after one without, shape (N,)
    """
    changing = new[1:].any(axis=0)
    same = float(np.mean(~new.any(axis=1)))
    alone = (1.0 - same ** (1.0 / changing.sum())) / (1.0 - same)
    return bool(new[np.ix_(ended, changing)].mean() > 0.5 * (1.0 + alone))


def _smallest(steps: Array) -> float:
    """Return the smallest of the steps that are not zero, but for a hundredth of them."""
    return float(np.quantile(steps[steps > 0.0], 0.01))


def _lengths(new: Rows) -> NDArray[np.intp]:
    """Return the lengths of the runs of equal values, the first of which starts at sample 0."""
    return np.diff(np.append(np.flatnonzero(new), len(new)))


def _updates(length: NDArray[np.intp], repeats: Rows, step: int) -> Rows:
    """Return the samples (N,) at which a signal is measured: new values, and each `step` in runs.

    :param length: of the runs of equal values, shape (M,)
    :param repeats: runs that hold one measurement only, shape (M,)
    """
    age = np.concatenate([np.arange(each) for each in length])
    taken: Rows = (age == 0) | (~np.repeat(repeats, length) & (age % step == 0))
    taken[0] = not repeats[0]  # when its first value was measured is unknown
    return taken
