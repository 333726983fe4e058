# SPDX-License-Identifier: Apache-2.0
"""Condensed normal equations of all explanations together, over the last seconds of motion.

The motion is cut into blocks. Each is a square matrix per joint, whatever the number of samples,
and the oldest is forgotten. The blocks are the folds that are left out in turn: contiguous ones
(time) and those at neighbouring positions (places), as in identification.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from robodyn_ros.control.health.hypotheses import Hypothesis
from robodyn_ros.identification.fit.folds import labels_of
from robodyn_ros.models.interface import Array


class Evidence:
    """Normal equations of [Y1 | Y2 | ... | d], with rows divided by the noise of their joint.

    :ivar places: columns of each explanation
    :ivar samples: samples of each block, shape (blocks,)
    """

    def __init__(
        self, hypotheses: Sequence[Hypothesis], joints: int, *, blocks: int, block_samples: int
    ) -> None:
        """Reserve the memory."""
        self.hypotheses = tuple(hypotheses)
        ends = np.cumsum([0, *(each.width for each in hypotheses)]).tolist()
        self.places = [slice(*pair) for pair in pairwise(ends)]
        self.width = ends[-1]
        self._block_samples = block_samples
        self._grams = np.zeros((blocks, joints, self.width + 1, self.width + 1))
        self._position = np.zeros((blocks, joints))
        self.samples = np.zeros(blocks, dtype=np.int64)
        self._current = 0

    def clear(self) -> None:
        """Forget everything."""
        self._grams[:] = 0.0
        self._position[:] = 0.0
        self.samples[:] = 0
        self._current = 0

    def add(self, q: Array, qd: Array, qdd: Array, lacking: Array, noise: Array) -> None:
        """Add samples in motion, in the order of time.

        :param lacking: feedback minus model torque, shape (N, n), in [Nm] or [N]
        :param noise: its standard deviation, shape (N, n), in [Nm] or [N]
        """
        columns = [each.columns(q, qd, qdd) for each in self.hypotheses]
        rows = np.concatenate([*columns, lacking[:, :, None]], axis=2) / noise[:, :, None]
        first = 0
        while first < len(q):
            left = self._block_samples - int(self.samples[self._current])
            if left <= 0:
                self._next_block()
                continue
            part = slice(first, min(first + left, len(q)))
            self._add(rows[part].transpose(1, 0, 2), q[part])
            first = part.stop

    def _add(self, rows: Array, q: Array) -> None:
        block = self._current
        self._grams[block] += rows.transpose(0, 2, 1) @ rows
        self._position[block] += q.sum(axis=0)
        self.samples[block] += len(q)

    def torque(self, place: slice, values: Array) -> Array:
        """Return the RMS torque Y values of each joint, divided by its noise, shape (n,)."""
        gram = self.per_joint()[:, place, place]
        square = np.einsum('i,nij,j->n', values, gram, values)
        result: Array = np.sqrt(np.maximum(square, 0.0) / self.samples.sum())
        return result

    def _next_block(self) -> None:
        self._current = (self._current + 1) % len(self.samples)
        self._grams[self._current] = 0.0
        self._position[self._current] = 0.0
        self.samples[self._current] = 0

    @property
    def full(self) -> bool:
        """True if no block is empty."""
        return bool((self.samples > 0).all())

    def per_joint(self) -> Array:
        """Return the normal equations of each joint over all blocks, shape (n, K + 1, K + 1)."""
        total: Array = self._grams.sum(axis=0)
        return total

    def folds(self) -> tuple[list[Array], list[Array]]:
        """Return normal equations and samples of folds of time and of places.

        Every block must have samples.

        :return: for each kind of folds shapes (folds, K + 1, K + 1) and (folds,)
        """
        order = np.arange(self._current + 1, self._current + 1 + len(self.samples))
        order %= len(self.samples)
        grams, samples = self._grams[order].sum(axis=1), self.samples[order]
        position = self._position[order] / samples[:, None]
        kinds, counts = [], []
        for labels in labels_of(position):
            used = np.unique(labels)  # a region without blocks is no fold
            member = (labels == used[:, None]).astype(float)
            kinds.append(np.tensordot(member, grams, axes=1))
            counts.append(member @ samples)
        return kinds, counts
