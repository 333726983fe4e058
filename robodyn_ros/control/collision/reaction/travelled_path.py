# SPDX-License-Identifier: Apache-2.0
"""Path that the robot has just travelled."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.interface import Array


class TravelledPath:
    """Ring of positions that are a share of a distance apart, so that standstill needs no space.

    The distance between two positions is the largest travel of a joint, relative to its distance.
    """

    def __init__(self, distance: Array, *, spacing: float = 0.02, capacity: int = 128) -> None:
        """Reserve the memory.

        :param distance: travel that is remembered at least, on a path without reversals, (n,),
            above 0, in [rad] or [m]
        :param spacing: of stored positions, relative to the distance
        """
        self._scale = 1.0 / distance
        self._spacing = spacing
        self._rows = np.zeros((capacity, len(distance)))
        self.clear()

    def clear(self) -> None:
        """Forget the path, for example after a gap in the data."""
        self._count = 0

    def add(self, position: Array) -> None:
        """Add a measured position, shape (n,), in [rad] or [m]."""
        last = self._rows[(self._count - 1) % len(self._rows)]
        if self._count and (np.abs(position - last) * self._scale).max() < self._spacing:
            return
        self._rows[self._count % len(self._rows)] = position
        self._count += 1

    def back(self, position: Array) -> Array:
        """Return the path from a position back, at most as far as the distance of any joint.

        :param position: present one, shape (n,), in [rad] or [m]
        :return: shape (K, n), K >= 1, the present position first. It ends before the first stored
            position at which a joint is farther away than its distance
        """
        order = np.arange(self._count - 1, max(self._count - len(self._rows), 0) - 1, -1)
        rows = self._rows[order % len(self._rows)]
        away = (np.abs(rows - position) * self._scale).max(axis=1, initial=0.0)
        beyond = np.flatnonzero(away > 1.0)
        rows = rows[: beyond[0]] if len(beyond) else rows
        return np.vstack([position, rows])
