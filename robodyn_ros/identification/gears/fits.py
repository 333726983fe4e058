# SPDX-License-Identifier: Apache-2.0
"""Fits of the maps from deflection to torque, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.identification.gears.maps import GmrMap, RbfMap, normalise_gaussians
from robodyn_ros.identification.options import SAMPLES
from robodyn_ros.models.gear_torque import feature_range
from robodyn_ros.models.interface import Array

GRID = (7, 5, 9)
"""Basis functions over deflection, deflection rate and velocity."""
RIDGE = 0.01
"""Share of a basis function's mean weight that is added to it, so that corners of the grid which
the motion does not reach get no torque."""
COMPONENTS = 10
"""Gaussians of a joint's mixture: 150 numbers with three inputs, half as many as `rbf` has."""
ITERATIONS = 25
"""Rounds of expectation and maximisation: a fit always takes the same time."""
FLOOR = 1e-3
"""Added to the variances, in units of the variance of all samples: no component collapses."""


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


class GmrFit:
    """A mixture of one joint, over any of several segments of samples."""

    def __init__(self, segments: Sequence[tuple[Array, Array]]) -> None:
        """Keep the samples.

        :param segments: features (N, k) and torque (N,) of each
        """
        self._parts = [np.column_stack(segment) for segment in segments]

    def map(self, without: int | None = None) -> GmrMap:
        """Return the map of one joint, n = 1, from all segments but one."""
        kept = [part for index, part in enumerate(self._parts) if index != without]
        samples = np.concatenate(kept)
        samples = samples[:: max(1, -(-len(samples) // SAMPLES))]
        centre, spread = samples.mean(axis=0), np.maximum(samples.std(axis=0), 1e-12)
        weights, means, covariances = fit_mixture((samples - centre) / spread, COMPONENTS)
        return GmrMap(
            weights[None],
            (means * spread + centre)[None],
            (covariances * np.outer(spread, spread))[None],
        )


def fit_mixture(samples: Array, components: int) -> tuple[Array, Array, Array]:
    """Fit a Gaussian mixture by expectation maximisation, from a fixed seed.

    :param samples: shape (N, d), of variance 1
    :return: weights (K,), means (K, d), covariances (K, d, d)
    """
    width = samples.shape[1]
    # All that both steps need of a sample: its products with itself, itself, and 1.
    pairs = (samples[:, :, None] * samples[:, None, :]).reshape(-1, width * width)
    shares = _nearest(samples, _spread_samples(samples, components))
    for _ in range(ITERATIONS):
        shares = _responsibilities(samples, pairs, *_maximise(samples, pairs, shares))
    return _maximise(samples, pairs, shares)


def _spread_samples(samples: Array, components: int) -> Array:
    """Return samples to start with, as in k-means++: each far from those before."""
    random = np.random.default_rng(0)
    chosen = [samples[random.integers(len(samples))]]
    distance = np.full(len(samples), np.inf)
    for _ in range(components - 1):
        distance = np.minimum(distance, ((samples - chosen[-1]) ** 2).sum(axis=1))
        total = distance.sum()
        share = distance / total if total > 0.0 else None
        chosen.append(samples[random.choice(len(samples), p=share)])
    return np.array(chosen)


def _nearest(samples: Array, centres: Array) -> Array:
    """Return the responsibilities of the nearest centres, after some rounds of k-means."""
    for _ in range(8):
        distance = (samples**2).sum(axis=1)[:, None] - 2.0 * samples @ centres.T
        nearest = (distance + (centres**2).sum(axis=1)).argmin(axis=1)
        shares = np.eye(len(centres))[nearest]
        counts = shares.sum(axis=0)
        moved = shares.T @ samples / np.maximum(counts, 1.0)[:, None]
        centres = np.where(counts[:, None] > 0.0, moved, centres)
    return np.asarray(shares)


def _maximise(samples: Array, pairs: Array, shares: Array) -> tuple[Array, Array, Array]:
    """Return the M step: weights, means and covariances from responsibilities (N, K)."""
    counts = shares.sum(axis=0) + 1e-9
    means = shares.T @ samples / counts[:, None]
    width = samples.shape[1]
    second = (shares.T @ pairs / counts[:, None]).reshape(-1, width, width)
    covariances = second - means[:, :, None] * means[:, None, :] + FLOOR * np.eye(width)
    return counts / counts.sum(), means, covariances


def _responsibilities(
    samples: Array, pairs: Array, weights: Array, means: Array, covariances: Array
) -> Array:
    """Return the E step: responsibilities (N, K) of the components (Eq. 31, 37)."""
    precision = np.linalg.inv(covariances)
    pulled = np.einsum('kij,kj->ki', precision, means)
    constant = np.log(weights) - 0.5 * np.linalg.slogdet(covariances)[1]
    constant -= 0.5 * (pulled * means).sum(axis=1)
    exponent = constant + samples @ pulled.T - 0.5 * pairs @ precision.reshape(len(means), -1).T
    exponent -= exponent.max(axis=1, keepdims=True)
    shares = np.exp(exponent)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
