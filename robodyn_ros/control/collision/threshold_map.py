# SPDX-License-Identifier: Apache-2.0
"""Thresholds by speed, acceleration and time since the last reversal of each joint."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array

REST = 0.2
"""Time below the speed of standstill, or without a change of the reference, after which a joint
rests, in [s]: the drive has come to rest, and friction has lost its direction."""


class Thresholds(Protocol):
    """Thresholds of the present sample, shape (n,) each, in [Nm] or [N].

    `change` is that of the change of the torque error while the reference rests; infinite: none.
    """

    collision: Array
    contact: Array
    change: Array

    @property
    def highest(self) -> Array:
        """Largest thresholds of all motions that were learned."""

    def restart(self, stamp: float) -> None:
        """Start after a gap."""

    def update(self, stamp: float, velocity: Array, acceleration: Array) -> None:
        """Set the thresholds for a filtered motion."""


@dataclass(frozen=True)
class Bands:
    """Bands of motion, for each of n joints; a cell is one band of each kind.

    Below the speed of standstill, a joint passes (it reverses, starts or stops, and friction can
    lag behind its direction by twice its value) or rests (stiction can hold any torque up to it).

    :param still: a joint is at standstill below it, shape (n,), in [rad/s] or [m/s]
    :param speed: inner edges of the speed bands, shape (n, S - 1)
    :param acceleration: inner edges of the bands of absolute acceleration, shape (n, A - 1)
    :param reversal: inner edges of the bands of time since standstill or the last change of
        direction, shape (n, R - 1), in [s]
    :param rest: time below the speed of standstill after which a joint rests, in [s]
    """

    still: Array
    speed: Array
    acceleration: Array
    reversal: Array
    rest: float = REST

    @property
    def cells(self) -> int:
        """Number of cells of a joint; the last two are passing standstill, and rest."""
        bands = [edges.shape[1] + 1 for edges in (self.speed, self.acceleration, self.reversal)]
        return int(np.prod(bands)) + 2

    def cell(
        self, speed: Array, acceleration: Array, since: Array, slow: Array
    ) -> NDArray[np.intp]:
        """Return the cell of each joint.

        :param speed: absolute velocity, shape (..., n)
        :param acceleration: absolute acceleration, shape (..., n)
        :param since: time since the last reversal or standstill, shape (..., n), in [s]
        :param slow: time since the last motion, shape (..., n), in [s]
        """
        cell: NDArray[np.intp] = np.zeros(speed.shape, dtype=np.intp)
        for value, edges in (
            (speed, self.speed),
            (acceleration, self.acceleration),
            (since, self.reversal),
        ):
            cell *= edges.shape[1] + 1
            for edge in edges.T:
                cell += value >= edge
        still = speed < self.still
        cell[still] = self.cells - 2
        cell[still & (slow >= self.rest)] = self.cells - 1
        return cell


MOST = 10.0
"""Largest factor of a threshold beyond the learned motion: a joint that hardly moved in learning
would have none in motion, and always be OK."""


class Row(NamedTuple):
    """Bands and thresholds of one joint; fields as of `Bands` and `ThresholdMap`."""

    still: float
    speed: list[float]
    acceleration: list[float]
    reversal: list[float]
    collision: list[float]
    fastest: float
    hardest: float


@dataclass(frozen=True)
class ThresholdMap:
    """Collision threshold of each joint and cell.

    :param collision: collision thresholds, shape (n, cells), in [Nm] or [N]
    :param contact: contact thresholds relative to the collision thresholds, 0..1
    :param fastest: largest learned speed, shape (n,); beyond it, thresholds grow in proportion, at
        most by `MOST`
    :param hardest: largest learned absolute acceleration, shape (n,); the same
    :param change: collision threshold of the change of the torque error while the reference rests
        (`ChangeAtRest`), shape (n,), in [Nm] or [N]; None: not learned
    """

    bands: Bands
    collision: Array
    contact: float
    fastest: Array
    hardest: Array
    change: Array | None = None

    @cached_property
    def rows(self) -> list[Row]:
        """The same as numbers, by joint."""
        bands = self.bands
        arrays = (bands.still, bands.speed, bands.acceleration, bands.reversal, self.collision,
                  self.fastest, self.hardest)  # fmt: skip
        return [Row(*row) for row in zip(*(array.tolist() for array in arrays), strict=True)]

    def at(self, speed: Array, acceleration: Array, since: Array, slow: Array) -> Array:
        """Return the collision thresholds, shape (..., n); arguments as of `Bands.cell`."""
        cell = self.bands.cell(speed, acceleration, since, slow)
        threshold: Array = self.collision[np.arange(speed.shape[-1]), cell]
        beyond = np.maximum(speed / self.fastest, acceleration / self.hardest)
        moving = cell < self.bands.cells - 2
        threshold *= np.where(moving, np.clip(beyond, 1.0, MOST), 1.0)
        return threshold


class MappedThresholds:
    """Thresholds of a map for the present motion; attributes as of `Thresholds`."""

    def __init__(self, given: ThresholdMap) -> None:
        """Start with the thresholds of passing standstill."""
        self._map = given
        self.collision = given.collision[:, -2].copy()
        self.contact = given.contact * self.collision
        none = np.full(len(self.collision), np.inf)
        self.change = none if given.change is None else given.change.copy()
        self._since, self._moved = ([0.0] * len(self.collision) for _ in range(2))
        self._forward = [False] * len(self.collision)

    @property
    def highest(self) -> Array:
        """Largest thresholds of all cells, and of the change at rest, shape (n,)."""
        change = np.where(np.isfinite(self.change), self.change, 0.0)
        highest: Array = np.maximum(self._map.collision.max(axis=1), change)
        return highest

    def restart(self, stamp: float) -> None:
        """Start after a gap: as after a reversal, because nothing is known of the time before."""
        self._since[:] = self._moved[:] = [stamp] * len(self._since)

    def update(self, stamp: float, velocity: Array, acceleration: Array) -> None:
        """Set the thresholds for a filtered motion, shape (n,) each, at a time in [s].

        This is `ThresholdMap.at`, in a third of its time for a few joints.
        """
        motion = zip(self._map.rows, velocity.tolist(), acceleration.tolist(), strict=True)
        self.collision[:] = [
            self._threshold(joint, row, stamp, v, abs(a))
            for joint, (row, v, a) in enumerate(motion)
        ]
        np.multiply(self.collision, self._map.contact, out=self.contact)

    def _threshold(
        self, joint: int, row: Row, stamp: float, velocity: float, hard: float
    ) -> float:
        """Return the threshold of a joint, and note its reversal or motion."""
        speed, forward = abs(velocity), velocity > 0.0
        if speed < row.still or forward != self._forward[joint]:
            self._since[joint], self._forward[joint] = stamp, forward
        if speed < row.still:
            resting = stamp - self._moved[joint] >= self._map.bands.rest
            return row.collision[-1 if resting else -2]
        self._moved[joint] = stamp
        cell = bisect_right(row.speed, speed) * (len(row.acceleration) + 1)
        cell = (cell + bisect_right(row.acceleration, hard)) * (len(row.reversal) + 1)
        cell += bisect_right(row.reversal, stamp - self._since[joint])
        beyond = max(1.0, speed / row.fastest, hard / row.hardest)
        return row.collision[cell] * min(beyond, MOST)
