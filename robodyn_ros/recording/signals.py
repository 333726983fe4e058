# SPDX-License-Identifier: Apache-2.0
"""Signal processing on sampled joint signals: pure functions on arrays of shape (N, n)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy  # its parts at their first use: scipy.signal takes half a second
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import finding
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.storage import extremes, sweep

Array = NDArray[np.float64]

MAX_CUTOFF = 125.0
"""Highest cut-off in [Hz] (softMC: IdentFilterFreq must be below 125 Hz)."""

MAX_CUTOFF_SHARE = 0.2
"""Highest cut-off as a share of the sampling rate, 0.4 of its Nyquist frequency."""


def check_cutoff(cutoff: float, rate: float) -> None:
    """Check a cut-off frequency against the sampling rate.

    :param cutoff: in [Hz]
    :param rate: sampling rate, in [Hz]
    :raises RecordingError: not positive, 125 Hz or more, or more than a fifth of the sampling rate
    """
    if not (np.isfinite(cutoff) and cutoff > 0.0):
        raise RecordingError(f'the filter cut-off must be positive, got {cutoff:g} Hz')
    if cutoff >= MAX_CUTOFF:
        raise RecordingError(
            f'the filter cut-off must be below {MAX_CUTOFF:g} Hz, got {cutoff:g} Hz'
        )
    if cutoff > MAX_CUTOFF_SHARE * rate * (1.0 + 1e-9):
        raise RecordingError(
            f'the filter cut-off must be at most a fifth of the sampling rate of {rate:g} Hz, '
            f'got {cutoff:g} Hz'
        )


def low_pass(values: Array, cutoff: float, rate: float) -> Array:
    """Apply a zero-phase Butterworth low pass (order 4, forwards and backwards) along axis 0.

    At both ends the signal is extended by three periods of the cut-off, point-symmetric about its
    end points, so that value and slope are preserved. After both passes the amplitude at the
    cut-off is halved. Unequal time steps are treated as equal.

    :param values: shape (N,) or (N, n)
    :param cutoff: in [Hz], see `check_cutoff`
    :param rate: sampling rate, in [Hz]
    :raises RecordingError: the signal is shorter than three periods of the cut-off
    """
    sections = scipy.signal.butter(4, cutoff, fs=rate, output='sos')
    pad = int(3 * rate / cutoff)
    if len(values) <= pad:
        raise RecordingError(
            f'a low pass at {cutoff:g} Hz needs more than {pad} samples at {rate:g} Hz, '
            f'got {len(values)}'
        )
    result: Array = scipy.signal.sosfiltfilt(sections, values, axis=0, padlen=pad)
    return result


def central_differences(values: Array, time: Array) -> Array:
    """Differentiate with respect to time; second order also where the steps are unequal.

    :param values: shape (N,) or (N, n), N >= 3
    :param time: shape (N,), in [s], strictly increasing
    :raises RecordingError: fewer than 3 samples
    """
    if len(values) < 3:
        raise RecordingError(f'central differences need at least 3 samples, got {len(values)}')
    result: Array = np.gradient(values, time, axis=0, edge_order=2)
    return result


def white_noise(values: Array) -> Array:
    """Return the standard deviation of the white noise of each signal, from third differences.

    They hardly contain motion, and their median is not affected by single jumps. Third differences
    of white noise have 20 times its variance; the median of their absolute values is 0.6745
    standard deviations.

    :param values: shape (N,) or (N, n), N >= 4
    :return: shape () or (n,)
    """
    median = np.median(np.abs(np.diff(values, 3, axis=0)), axis=0)
    return np.asarray(median / 0.6745 / np.sqrt(20.0))


def trim_standstill(recording: Recording) -> Recording:
    """Cut off the standstill before and after the motion; a finding gives its duration.

    A joint is at standstill while it stays near its first (or last) position: within 0.5 % of its
    stroke, six times its noise or two steps of its encoder.
    """
    position = recording.position
    if len(position) < 3:
        return recording
    nearby = _nearby(position)
    first = _first_motion(position, nearby)
    last = len(position) - _first_motion(position[::-1], nearby)
    if first >= last or last - first == len(position):
        return recording
    time = recording.time
    before, after = time[first] - time[0], time[-1] - time[last - 1]
    cut_off = finding('standstill_cut', before=before, after=after)
    cut = recording.slice(slice(first, last))
    return replace(cut, findings=(*recording.findings, cut_off))


def split_motion(recording: Recording, fraction: float) -> tuple[Recording, Recording]:
    """Split the motion, without the standstill around it, so that both parts move.

    See `Recording.split`.

    :raises RecordingError: the fraction is not between 0 and 1, or a part has no samples
    """
    return trim_standstill(recording).split(fraction)


def _nearby(position: Array) -> Array:
    """Return the distance from its first position within which a joint is at rest, shape (n,)."""
    noise, step = [], np.full(position.shape[1], np.inf)
    for rows in sweep(position, overlap=2):
        steps = np.diff(position[rows], axis=0)
        # Second differences of noise have a median of 1.65 standard deviations, of motion ~0.
        noise.append(np.median(np.abs(np.diff(steps, axis=0)), axis=0) / 1.65)
        steps = np.abs(steps)
        step = np.minimum(step, np.min(steps, axis=0, where=steps > 0.0, initial=np.inf))
    low, high = extremes(position)
    step[np.isinf(step)] = 0.0
    spread = np.median(noise, axis=0)
    return np.asarray(np.max([0.005 * (high - low), 6.0 * spread, 2.5 * step], axis=0))


def _first_motion(position: Array, nearby: Array) -> int:
    """Return the first sample at which a joint has moved; the number of samples if none moves."""
    rest = np.median(position[:10], axis=0)
    for rows in sweep(position):
        moved = (np.abs(position[rows] - rest) > nearby).any(axis=1)
        if moved.any():
            return int(rows.start + moved.argmax())
    return len(position)
