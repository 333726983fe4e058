# SPDX-License-Identifier: Apache-2.0
"""Low pass and decimation along time, which regressor and torque go through alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from robodyn_ros.models.interface import Array, DynamicModel, Indices, SumModel


@dataclass(frozen=True)
class Thinning:
    """Linear-phase low pass and decimation along time, applied to regressor and torque alike.

    :param taps: symmetric filter of odd length; default: no filter
    :param step: every step-th sample tells all of a column that changes no faster than the
        motion, as the motion's own low pass leaves nothing beyond it; divides the stride
    """

    taps: Array = field(default_factory=lambda: np.ones(1))
    stride: int = 1
    step: int = 1

    def count(self, samples: int) -> int:
        """Return the number of samples that remain of so many."""
        return max(0, (samples - len(self.taps)) // self.stride + 1)

    def rows(self, first: int, last: int) -> slice:
        """Return the samples that the thinned samples first to last - 1 are made of."""
        return slice(first * self.stride, (last - 1) * self.stride + len(self.taps))

    def centres(self, samples: int) -> slice:
        """Return where the thinned samples of so many samples lie in time."""
        half = len(self.taps) // 2
        return slice(half, samples - half, self.stride)

    def apply(self, values: Array) -> Array:
        """Filter and decimate, shape (N, k) to (count(N), k)."""
        if len(self.taps) == 1:
            return np.asarray(values[:: self.stride] * self.taps[0])
        if len(values) < len(self.taps):
            return values[:0]
        windows = sliding_window_view(values, len(self.taps), axis=0)[:: self.stride]
        return np.asarray(windows @ self.taps)

    @cached_property
    def coarse(self) -> Thinning:
        """The same filter for every step-th sample.

        Every step-th coefficient would mirror parts of the filter's stop band into its pass band
        (5e-4); least squares for the frequencies that pass leaves some 1e-6.
        """
        half = len(self.taps) // 2
        # A motion has nothing beyond 1.25 Nyquist frequencies after the decimation: there the
        # filter must only be small.
        passed, highest = 0.625 / self.stride, 0.5 / self.step
        frequency = np.linspace(0.0, highest, 400)
        weight = np.where(frequency <= passed, 1.0, 1e-4)
        angle = 2.0 * np.pi * frequency
        wanted = np.cos(np.outer(angle, np.arange(-half, half + 1))) @ self.taps
        columns = 2.0 * np.cos(np.outer(angle, np.arange(0, half + 1, self.step)))
        columns[:, 0] = 1.0
        side = np.linalg.lstsq(columns * weight[:, None], wanted * weight, rcond=1e-12)[0]
        taps = np.concatenate([side[:0:-1], side])
        return Thinning(taps, self.stride // self.step)


def thin_columns(
    model: DynamicModel, motion: Sequence[Array], columns: Sequence[Indices], thinning: Thinning
) -> Array:
    """Filter and decimate columns of each joint (`DynamicModel.pack_columns`), shape (M, k).

    Friction changes its sign within a sample, so that its columns are computed at every sample;
    those of rigid bodies at every step-th.

    :param motion: q, qd, qdd, each of shape (N, n), N >= number of coefficients
    """
    if thinning.step > 1 and isinstance(model, SumModel):
        result = np.empty((thinning.count(len(motion[0])), sum(len(share) for share in columns)))
        for part, share, place in model.shares(columns):
            result[:, place] = thin_columns(part, motion, share, thinning)
        return result
    coarse = thinning.step > 1 and model.smooth
    q, qd, qdd = (values[:: thinning.step] if coarse else values for values in motion)
    packed = model.pack_columns(q, qd, qdd, columns)
    return (thinning.coarse if coarse else thinning).apply(packed)
