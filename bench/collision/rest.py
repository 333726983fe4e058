# SPDX-License-Identifier: Apache-2.0
"""Proposal, not part of the law: while the reference rests, a change of the torque error counts.

A joint at rest can hold any torque up to its stiction, so that its threshold is the friction. But
while it is not commanded to move, this torque does not change by itself: its change is the torque
error minus the mean since the reference came to rest. Joint states alone do not tell a push from
the start of a motion, which turns the friction in the same way; the reference does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collision.methods import debounced
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.analysis.thresholds.tail import level_at
from robodyn_ros.models.interface import Array

REST = 0.2
"""Time after which a reference at a constant position rests, in [s]; as of `Bands`."""
BLOCK = 5.0
"""Length of the blocks whose largest values are independent, in [s]; as of `Learning`."""


@dataclass(frozen=True)
class AtRest:
    """Thresholds of the change, shape (n,), in [Nm]."""

    threshold: Array

    @classmethod
    def learned(cls, signed: Sequence[Session], references: Sequence[Array]) -> AtRest:
        """Learn the level that no block reaches, or one per hour by its tail, for each joint.

        :param signed: sessions with the sign of the torque error
        """
        pairs = list(zip(signed, references, strict=True))
        hours = sum(each.hours for each in signed)
        length = round(BLOCK / (signed[0].time[1] - signed[0].time[0]))
        blocks = []
        for each, reference in pairs:
            values = change(each, reference) * each.used[:, None]
            rows = len(values) // length * length
            blocks.append(values[:rows].reshape(-1, length, values.shape[1]).max(axis=1))
        rate = min(1.0, 0.99 / hours) / 3.0  # a third, as each state of the map
        most = np.concatenate(blocks)
        return cls(np.array([level_at(column, hours, rate / most.shape[1]) for column in most.T]))

    def ratio(self, signed: Session, reference: Array, debounce: int) -> Array:
        """Return the largest ratio to the thresholds, shape (N,)."""
        size = change(signed, reference) / self.threshold
        return debounced(size * signed.used[:, None], debounce)


def resting(time: Array, reference: Array) -> NDArray[np.bool_]:
    """Return the samples at which the reference of all joints has not moved for `REST`."""
    moves = np.concatenate([[True], (np.diff(reference, axis=0) != 0.0).any(axis=1)])
    last = np.maximum.accumulate(np.where(moves, np.arange(len(time)), 0))
    return np.asarray(time - time[last] >= REST)


def change(signed: Session, reference: Array) -> Array:
    """Return the absolute change while the reference rests, shape (N, n); 0 in motion."""
    rests = resting(signed.time, reference)
    number = np.arange(len(rests))
    first = rests & ~np.concatenate([[False], rests[:-1]])
    start = np.maximum.accumulate(np.where(first, number, 0))
    total = np.cumsum(signed.residual, axis=0, dtype=float) - signed.residual
    since = (number - start)[:, None]
    mean = (total - total[start]) / np.maximum(since, 1)
    return np.where(rests[:, None] & (since > 0), np.abs(signed.residual - mean), 0.0)
