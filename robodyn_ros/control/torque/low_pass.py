# SPDX-License-Identifier: Apache-2.0
"""Causal low pass and derivative with the same phase for all signals."""

from __future__ import annotations

import numpy as np

from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array

HIGHEST_SHARE = 0.4
"""Highest cut-off as a share of the sampling rate: 80 % of the Nyquist frequency, because the
prewarping of the bilinear transform goes to infinity there."""


class MatchedLowPass:
    """Second-order Butterworth low pass of several signals, with their derivatives.

    Transfer functions H(s) = w^2 / (s^2 + sqrt(2) w s + w^2) and s H(s), taken to discrete time
    by the bilinear transform with the corner prewarped (Oppenheim and Schafer, "Discrete-Time
    Signal Processing", 7.2.2). Both share one state, so that value and derivative have
    the same delay of about sqrt(2) / w seconds.
    """

    def __init__(self, *, signals: int, width: int, cutoff: float, period: float) -> None:
        """Compute the coefficients.

        :param signals: how many signals of `width` numbers each
        :param cutoff: -3 dB corner, in [Hz]
        :param period: of the samples, in [s]
        :raises ControlError: a cutoff outside 0 to 80 % of the Nyquist frequency
        """
        if not 0.0 < cutoff <= HIGHEST_SHARE / period:
            raise ControlError(
                f'filter_cutoff must be above 0 and at most {HIGHEST_SHARE / period:.6g} Hz at '
                f'this period, got {cutoff}'
            )
        warped = np.tan(np.pi * cutoff * period)
        norm = 1.0 + np.sqrt(2.0) * warped + warped**2
        self._gain = warped**2 / norm
        self._first = 2.0 * (warped**2 - 1.0) / norm
        self._second = (1.0 - np.sqrt(2.0) * warped + warped**2) / norm
        # s = (2 / T) (1 - z^-1) / (1 + z^-1): exact for slow signals.
        self._slope = self._gain * 2.0 / period
        self._before = np.zeros((signals, width))
        self._last = np.zeros((signals, width))
        self.value = np.zeros((signals, width))
        self.derivative = np.zeros((signals, width))

    def restart(self, signals: Array) -> None:
        """Settle on constant signals, shape (signals, width)."""
        self._before[:] = signals / (1.0 + self._first + self._second)
        self._last[:] = self._before
        self.value[:] = signals
        self.derivative[:] = 0.0

    def update(self, signals: Array) -> None:
        """Take the next sample of every signal, shape (signals, width)."""
        before, last = self._before, self._last
        newest = signals - self._first * before
        newest -= self._second * last
        np.subtract(newest, last, out=self.derivative)
        self.derivative *= self._slope
        np.add(newest, last, out=self.value)
        self.value += 2.0 * before
        self.value *= self._gain
        last[:] = before
        before[:] = newest
