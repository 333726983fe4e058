# SPDX-License-Identifier: Apache-2.0
"""Law of the learned detector: matched filters of ramps on the whitened torque error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.control.collision.motion_bands import Bands
from robodyn_ros.models.interface import Array

RAMPS = (0.03, 0.05, 0.1, 0.2)
"""Durations of the ramps, in [s]: a stiff obstacle to a soft one."""
LEVEL = len(RAMPS)
"""Index of the score that is the torque error itself, which a slow contact raises."""
SCORES = LEVEL + 1
ORDER = 8
"""Order of the whitening filter."""
SPACING = 0.008
"""Smallest distance of the taps of the filters, in [s]: the torque error has no higher
frequencies, because it has passed a low pass."""
MEMORY = 5.0
"""Longest time at rest over which changes of the torque error add up, in [s]: long beside a push,
short beside warming."""
MOST = 10.0
"""Largest factor of a scale beyond the learned motion: a joint that hardly moved in learning would
have none in motion, and always be OK."""
LATE = 1
"""Samples by which scores at rest are late, because the start of a motion is known later."""
AVERAGED = 5
"""Taps over which the torque error at the start of rest is averaged."""
KINDS = 8
"""Features of the motion of a joint."""
WIDTHS = (0.25, 1.0, 4.0)
"""Widths of the smooth signs of the velocity, relative to the speed of standstill."""


def ramp_gains(taps: Array, spacing: float) -> Array:
    """Return the score of each filter at the end of its ramp to 1, shape (n, SCORES)."""
    count = taps.shape[1]
    back = spacing * np.arange(count - 1, -1, -1)
    ramps = [np.clip(1.0 - back / duration, 0.0, 1.0) for duration in RAMPS]
    return np.asarray(np.einsum('ntk,kt->nk', taps, np.array([*ramps, np.ones(count)])))


@dataclass(frozen=True)
class ErrorSamples:
    """Torque errors and motion of N samples one period apart; arrays of shape (N, n).

    :param time: stamps, shape (N,), in [s]
    :param position: filtered, in [rad] or [m]
    :param error: torque error, in [Nm] or [N]
    :param rests: the commanded positions are known to rest, shape (N,)
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    error: Array
    rests: NDArray[np.bool_]

    def rows(self, rows: slice) -> ErrorSamples:
        """Return some of the samples."""
        return ErrorSamples(**{name: value[rows] for name, value in vars(self).items()})


@dataclass(frozen=True)
class RampLaw:
    """Learned values of the law.

    :param period: of the samples, in [s]
    :param fastest: largest learned speed, shape (n,); beyond it scales grow in proportion, at most
        by `MOST`, and the mean does not change
    :param hardest: largest learned absolute acceleration, shape (n,); the same
    :param mean: conditional mean of the torque error: coefficients of `features`, shape (F, n)
    :param whitening: coefficients of the linear prediction of the torque error in motion and at
        rest, shape (n, 2, ORDER)
    :param scale: usual largest size of each score, shape (n, cells, SCORES)
    :param covariance: of scaled scores over joints, shape (SCORES, n, n)
    :param single: threshold of the largest scaled score of one joint
    :param joint: threshold of the size of scaled scores of all joints
    """

    period: float
    bands: Bands
    fastest: Array
    hardest: Array
    mean: Array
    whitening: Array
    scale: Array
    covariance: Array
    single: float = 1.0
    joint: float = 1.0

    @property
    def stride(self) -> int:
        """Samples from tap to tap."""
        return max(1, round(SPACING / self.period))

    @property
    def rest_learned(self) -> bool:
        """True if the recordings told when the commanded positions rest."""
        return bool((self.scale[:, -1] != self.scale[:, self.bands.moving]).any())

    def features(self, samples: ErrorSamples) -> Array:
        """Return the features of the motion, shape (N, 1 + KINDS n)."""
        velocity = np.clip(samples.velocity, -self.fastest, self.fastest)
        count, width = velocity.shape
        result = np.empty((count, 1 + KINDS * width))
        result[:, 0] = 1.0
        parts = result[:, 1:].reshape(count, KINDS, width)
        for place, factor in enumerate(WIDTHS):
            np.tanh(velocity / (factor * self.bands.still), out=parts[:, place])
        parts[:, 3] = velocity
        parts[:, 4] = velocity * np.abs(velocity)
        np.clip(samples.acceleration, -self.hardest, self.hardest, out=parts[:, 5])
        np.sin(samples.position, out=parts[:, 6])
        np.cos(samples.position, out=parts[:, 7])
        return result


def ramp_taps(whitening: Array, spacing: float) -> Array:
    """Return the taps of all scores, oldest sample first, shape (n, taps, SCORES).

    A score is the correlation of the whitened torque error with the whitened ramp, which is the
    generalised likelihood ratio of a ramp of unknown height (Kay, "Fundamentals of Statistical
    Signal Processing: Detection Theory", 1998, chapter 7). As both filters are linear, they are
    one filter.

    :param whitening: coefficients of the linear prediction, shape (n, ORDER)
    :param spacing: from tap to tap, in [s]
    """
    counts = [max(1, int(np.ceil(each / spacing - 1e-9))) for each in RAMPS]
    taps = np.zeros((len(whitening), max(counts) + ORDER, SCORES))
    for joint, coefficients in enumerate(whitening):
        white = np.concatenate([[1.0], -coefficients])
        for score, (duration, count) in enumerate(zip(RAMPS, counts, strict=True)):
            ramp = np.minimum(spacing * np.arange(1, count + 1) / duration, 1.0)
            signature = np.convolve(ramp, white)[:count]
            signature /= np.linalg.norm(signature)
            by_lag = np.convolve(signature[::-1], white)
            taps[joint, len(taps[joint]) - len(by_lag) :, score] = by_lag[::-1]
    taps[:, -1, LEVEL] = 1.0
    return taps


def pieces(time: Array, rests: NDArray[np.bool_]) -> list[int]:
    """Return the rows from which on samples can be taken together, and the number of rows."""
    edges = np.flatnonzero(np.diff(rests, prepend=~rests[:1]))
    rows: list[int] = []
    for first, last in zip(edges.tolist(), [*edges[1:].tolist(), len(time)], strict=False):
        rows.append(first)
        while rests[first] and time[last - 1] - time[rows[-1]] >= MEMORY:
            rows.append(int(np.searchsorted(time - time[rows[-1]], MEMORY)))
    return [*rows, len(time)]


class RampScores:
    """Scores of a law, for one sample or many: the monitor and learning use the same code.

    A joint at rest can hold any torque up to its stiction, but while it is not commanded to move,
    this torque does not change by itself. While the commanded positions rest, the torque error is
    therefore its change since they came to rest, or since `MEMORY`.

    :ivar error: torque error minus its conditional mean and origin, (N, n), in [Nm] or [N]
    :ivar origin: torque error at which changes at rest start, shape (n,); 0 in motion
    :ivar scores: shape (N, n, SCORES)
    :ivar cell: of each joint, shape (N, n)
    :ivar scale: of each score in this motion, shape (N, n, SCORES)
    """

    def __init__(self, law: RampLaw, enabled: NDArray[np.bool_] | None = None) -> None:
        """Reserve the memory.

        :param enabled: joints that count, bool of shape (n,); None: all
        """
        self.law = law
        self._precision = np.zeros_like(law.covariance)
        on = np.arange(len(law.fastest)) if enabled is None else np.flatnonzero(enabled)
        block = np.ix_(np.arange(SCORES), on, on)
        self._precision[block] = np.linalg.inv(law.covariance[block])
        spacing = law.stride * law.period
        self._taps = np.array([ramp_taps(law.whitening[:, k], spacing) for k in range(2)])
        width, count = self._taps.shape[1:3]
        self._joints = np.arange(width)
        self._series = np.zeros(((count - 1) * law.stride + LATE, width))
        self._turned = np.full(width, -np.inf)
        self._forward = np.zeros(width, dtype=bool)
        self.origin = np.zeros(width)
        self._gains = np.array([ramp_gains(each, spacing) for each in self._taps])
        self._rested = self._came = np.inf
        self._kind = 0

    def restart(self, stamp: float) -> None:
        """Start after a gap: as after a reversal, because nothing is known of the time before."""
        self._turned[:] = stamp

    def settle(self, samples: ErrorSamples) -> None:
        """Take samples while the filters of the torque error settle."""
        self._follow(samples)
        self.origin[:], self._rested = 0.0, np.inf
        self._series[:] = self._without_mean(samples)[-1]

    def take(self, samples: ErrorSamples) -> None:
        """Set the scores of samples that follow the last ones.

        Rest begins or ends, and changes start anew, only at the first of them (`pieces`).
        """
        law, stride = self.law, self.law.stride
        rests = bool(samples.rests[0])
        self._kind = int(rests)
        self.cell, beyond = self._follow(samples)
        self._rest(float(samples.time[0]), rests)
        self.error = self._without_mean(samples)
        series = np.concatenate([self._series, self.error])
        row, column = series.strides
        shape = (len(self._joints), len(self.error), self._taps.shape[2])
        on_time = series if rests else series[LATE:]
        windows: Array = np.ndarray(shape, buffer=on_time, strides=(column, row, stride * row))
        self.scores = (windows @ self._taps[self._kind]).transpose(1, 0, 2)
        self._series = series[len(self.error) :]
        self.scale = law.scale[self._joints, self.cell] * beyond[..., None]

    def ratios(self) -> tuple[Array, Array]:
        """Return the scaled scores relative to their thresholds.

        :return: the largest of each joint, shape (N, n), and those of all joints together, (N,)
        """
        scaled = self.scores / self.scale
        single = np.abs(scaled).max(axis=2) / self.law.single
        by_score = scaled.transpose(2, 0, 1)
        square = ((by_score @ self._precision) * by_score).sum(axis=2).max(axis=0)
        return single, np.sqrt(square) / self.law.joint

    def level_at_rest(self) -> tuple[NDArray[np.bool_], Array]:
        """Return the samples of rest after the settling, and the error since always, (N,), (N, n).

        Changes start anew at `MEMORY`, so that a push which grows slowly, or lasts, is no change.
        """
        return self.cell[:, 0] == self.law.bands.cells - 1, self.error + self.origin

    def usual_error(self) -> Array:
        """Return the median of the errors that the scores use, (n,): that before a new contact."""
        return np.asarray(np.median(self._series[:: self.law.stride], axis=0))

    def smallest_ramps(self) -> Array:
        """Return the smallest height of a ramp that exceeds a threshold now, shape (n,)."""
        return np.asarray(self.law.single * (self.scale[-1] / self._gains[self._kind]).min(axis=1))

    def _without_mean(self, samples: ErrorSamples) -> Array:
        mean = self.law.features(samples) @ self.law.mean
        return np.asarray(samples.error - mean - self.origin)

    def _rest(self, time: float, rests: bool) -> None:
        """Set the origin of changes."""
        if not rests:
            if self._rested < np.inf:
                self._series += self.origin
                self.origin[:], self._rested = 0.0, np.inf
        elif self._rested == np.inf or time - self._rested >= MEMORY:
            self.origin += self._series[-self.law.stride * AVERAGED :].mean(axis=0)
            self._series[:], self._rested = 0.0, time

    def _follow(self, samples: ErrorSamples) -> tuple[NDArray[np.intp], Array]:
        """Return the cells of a motion and the factors beyond the learned one, (N, n) each."""
        law, bands = self.law, self.law.bands
        speed, hard = np.abs(samples.velocity), np.abs(samples.acceleration)
        forward = samples.velocity > 0.0
        turned = forward != np.concatenate([self._forward[None], forward[:-1]])
        turned |= speed < bands.still
        time = samples.time[:, None]
        last = np.maximum.accumulate(np.where(turned, time, self._turned), axis=0)
        self._turned, self._forward = last[-1], forward[-1]
        if not samples.rests[0]:
            self._came = np.inf
        elif self._came == np.inf:
            self._came = float(samples.time[0])
        rested = np.where(samples.rests, samples.time - self._came, -1.0)
        cell = bands.cell(speed, hard, time - last, rested)
        beyond = np.maximum(speed / law.fastest, hard / law.hardest)
        return cell, np.minimum(np.maximum(beyond, 1.0), MOST)
