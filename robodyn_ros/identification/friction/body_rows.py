# SPDX-License-Identifier: Apache-2.0
"""Rows of a joint that all friction laws share, and their products in every fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn_ros.identification.fit.folds import Labels, parts_of, products_of
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class BodyRows:
    """Rows [Y | tau] of the rigid body at one joint.

    :param rows: shape (m, r + 1)
    :param labels: fold of each row for every kind
    """

    rows: Array
    labels: Sequence[Labels]

    @cached_property
    def _known(self) -> list[tuple[list[Array], Array]]:
        """Rows and products of every fold, for each kind."""
        return [(parts_of(self.rows, kind), products_of(self.rows, kind)) for kind in self.labels]

    def with_friction(self, friction: Array) -> Array:
        """Return the rows [Y | F | tau] with columns of friction (m, k), shape (m, r + k + 1)."""
        return np.column_stack([self.rows[:, :-1], friction, self.rows[:, -1]])

    def products(self, friction: Array, kind: int) -> Array:
        """Return the products of these rows in every fold, shape (folds, r + k + 1, r + k + 1).

        :param kind: of folds, by number
        """
        parts, known = self._known[kind]
        total = self.rows.shape[1] + friction.shape[1]
        law = np.arange(self.rows.shape[1] - 1, total - 1)
        body = np.setdiff1d(np.arange(total), law)
        result = np.empty((len(known), total, total))
        result[:, body[:, None], body] = known
        divided = parts_of(friction, self.labels[kind])
        for square, rows, columns in zip(result, parts, divided, strict=True):
            cross = rows.T @ columns
            square[body[:, None], law], square[law[:, None], body] = cross, cross.T
            square[law[:, None], law] = columns.T @ columns
        return result
