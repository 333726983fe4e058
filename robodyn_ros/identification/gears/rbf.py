# SPDX-License-Identifier: Apache-2.0
"""Residual torque by normalised radial basis functions on a grid (document, Eq. 26 to 29)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.gear_torque import feature_range
from robodyn_ros.models.interface import Array

GRID = (7, 5, 9)
"""Basis functions over deflection, deflection rate and velocity."""
RIDGE = 0.01
"""Share of a basis function's mean weight that is added to it, so that corners of the grid which
the motion does not reach get no torque."""


@dataclass(frozen=True)
class RbfMap:
    """f(u) = sum w_j psi_j(u) / sum psi_j(u), psi_j a Gaussian about a point of a grid.

    A Gaussian over several inputs is the product of one for each, and so is the sum over a grid:
    the normalised functions are products of normalised functions of one input.

    :param centres: of each input, equally spaced over the training range, shape (n, m) each
    :param widths: standard deviation of the Gaussians: half the spacing, shape (n, k)
    :param weights: in [Nm] or [N], shape (n, m1, ..., mk)
    """

    centres: tuple[Array, ...]
    widths: Array
    weights: Array
    kind: str = 'rbf'

    def predict(self, features: Array) -> Array:
        """Return the torque (N, n) from features (N, n, k)."""
        result = np.broadcast_to(self.weights, (len(features), *self.weights.shape))
        for index, centre in enumerate(self.centres):
            basis = normalise_gaussians(features[..., index], centre, self.widths[:, index])
            shape = (*basis.shape, *(1,) * (result.ndim - 3))
            result = (result * basis.reshape(shape)).sum(axis=2)
        return np.asarray(result)

    def arrays(self) -> dict[str, Array]:
        """Return the centres of each input, widths and weights."""
        named = {f'centres_{index}': centre for index, centre in enumerate(self.centres)}
        return {**named, 'widths': self.widths, 'weights': self.weights}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> RbfMap:
        """Build it again from `arrays`."""
        count = len(arrays) - 2
        centres = tuple(arrays[f'centres_{index}'] for index in range(count))
        return cls(centres, arrays['widths'], arrays['weights'])


def normalise_gaussians(values: Array, centres: Array, width: Array) -> Array:
    """Return the gaussians about centres, divided by their sum (Eq. 26, 28).

    :param values: shape (..., n)
    :param centres: shape (n, m)
    :param width: shape (n,)
    :return: shape (..., n, m)
    """
    exponent = -0.5 * ((values[..., None] - centres) / width[:, None]) ** 2
    exponent -= exponent.max(axis=-1, keepdims=True)
    size = np.exp(exponent)
    return np.asarray(size / size.sum(axis=-1, keepdims=True))


class RbfFit:
    """Weights of one joint by least squares, over any of several segments of samples."""

    def __init__(self, segments: Sequence[tuple[Array, Array]]) -> None:
        """Choose the grid (Eq. 27) and add up the normal equations of each stretch.

        :param segments: features (N, k) and torque (N,) of each
        """
        every = np.concatenate([samples for samples, _ in segments])
        low, high = feature_range(every)
        self.centres = [
            np.linspace(float(first), float(last), count)
            for first, last, count in zip(low, high, GRID[: len(low)], strict=True)
        ]
        self.widths = np.array([0.5 * (centre[1] - centre[0]) for centre in self.centres])
        self._sums = []
        for samples, torque in segments:
            design = self._design(np.clip(samples, low, high))
            self._sums.append((design.T @ design, design.T @ torque))

    def _design(self, samples: Array) -> Array:
        """Return all basis functions of samples (N, k), one row each."""
        rows = np.ones((len(samples), 1))
        for index, centre in enumerate(self.centres):
            basis = normalise_gaussians(samples[:, [index]], centre[None], self.widths[[index]])[
                :, 0
            ]
            rows = (rows[:, :, None] * basis[:, None, :]).reshape(len(samples), -1)
        return rows

    def map(self, without: int | None = None) -> RbfMap:
        """Return the map of one joint, n = 1, from all segments but one."""
        kept = [sums for index, sums in enumerate(self._sums) if index != without]
        square = np.sum([matrix for matrix, _ in kept], axis=0)
        right = np.sum([vector for _, vector in kept], axis=0)
        added = RIDGE * max(float(np.trace(square)) / len(square), 1e-12)
        weights = np.linalg.solve(square + added * np.eye(len(square)), right)
        shape = tuple(len(centre) for centre in self.centres)
        return RbfMap(
            tuple(centre[None] for centre in self.centres),
            self.widths[None],
            weights.reshape(1, *shape),
        )
