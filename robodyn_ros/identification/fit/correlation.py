# SPDX-License-Identifier: Apache-2.0
"""Number of samples that count as one independent sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array


def correlation_length(residual: Array, used: NDArray[np.bool_]) -> Array:
    """Return the samples per independent sample of each joint's residuals, shape (n,), at least 1.

    1 + 2 sum of the autocorrelation, cut where the sum of two neighbours is no longer positive
    (initial positive sequence; Geyer, "Practical Markov chain Monte Carlo", 1992, section 3.3).
    For regressors that change slowly against the residuals this is the factor by which the
    variance of a least-squares estimate exceeds that with independent noise of equal size.

    :param residual: shape (N, n), in time order
    :param used: samples that count, shape (N, n); the others are taken as zero
    """
    result = np.ones(residual.shape[1])
    samples = len(residual)
    size = 1 << (2 * samples - 1).bit_length()
    for joint in range(residual.shape[1]):
        values = np.where(used[:, joint], residual[:, joint], 0.0)
        spectrum = np.fft.rfft(values, size)
        correlation = np.fft.irfft(np.abs(spectrum) ** 2, size)[:samples]
        if correlation[0] <= 0.0:
            continue
        pairs = correlation[: samples // 2 * 2].reshape(-1, 2).sum(axis=1) / correlation[0]
        ends = np.flatnonzero(pairs <= 0.0)
        positive = pairs[: ends[0]] if len(ends) else pairs
        result[joint] = max(1.0, 2.0 * float(positive.sum()) - 1.0)
    return result
