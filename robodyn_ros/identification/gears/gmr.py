# SPDX-License-Identifier: Apache-2.0
"""Residual torque by Gaussian mixture regression, a mixture per joint (document, Eq. 30 to 39)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from robodyn_ros.identification.options import SAMPLES
from robodyn_ros.models.interface import Array

COMPONENTS = 10
"""Gaussians of a joint's mixture: 150 numbers with three inputs, half as many as `rbf` has."""
ITERATIONS = 25
"""Rounds of expectation and maximisation: a fit always takes the same time."""
FLOOR = 1e-3
"""Added to the variances, in units of the variance of all samples: no component collapses."""


@dataclass(frozen=True)
class GmrMap:
    """Mean torque given the input, under a Gaussian mixture of input and torque.

    :param weights: pi of the K components, shape (n, K)
    :param means: of input and torque, shape (n, K, k + 1)
    :param covariances: shape (n, K, k + 1, k + 1)
    """

    weights: Array
    means: Array
    covariances: Array
    kind: str = 'gmr'
    _ready: tuple[Array, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare what does not depend on the input."""
        inner = self.covariances[..., :-1, :-1]
        precision = np.linalg.inv(inner)
        slope = np.einsum('nki,nkij->nkj', self.covariances[..., -1, :-1], precision)
        constant = np.log(self.weights) - 0.5 * np.linalg.slogdet(inner)[1]
        object.__setattr__(self, '_ready', (precision, slope, constant))

    def predict(self, features: Array) -> Array:
        """Return the torque (N, n) from features (N, n, k): Eq. 34, 37, 38."""
        precision, slope, constant = self._ready
        off = features[..., None, :] - self.means[..., :-1]
        turned = (precision * off[..., None, :]).sum(axis=-1)
        exponent = constant - 0.5 * (turned * off).sum(axis=-1)
        exponent -= exponent.max(axis=-1, keepdims=True)
        share = np.exp(exponent)
        each = self.means[..., -1] + (slope * off).sum(axis=-1)
        return np.asarray((share * each).sum(axis=-1) / share.sum(axis=-1))

    def arrays(self) -> dict[str, Array]:
        """Return the weights, means and covariances."""
        return {
            'weights': self.weights,
            'means': self.means,
            'covariances': self.covariances,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> GmrMap:
        """Build it again from `arrays`."""
        return cls(arrays['weights'], arrays['means'], arrays['covariances'])


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
