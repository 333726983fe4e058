"""Cut-off frequency of the low pass, from the data."""

from __future__ import annotations

import numpy as np
from scipy import signal

from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.signals import MAX_CUTOFF, MAX_CUTOFF_SHARE

LOWEST = 20.0
"""Not lower than this [Hz] unless noise demands it (the value of softMC's examples)."""

BANDWIDTHS = 8.0
"""Times the bandwidth of the motion, so that the low pass does not touch it (5 and
more are usual; Gautier 1997)."""

FEWEST_BANDWIDTHS = 2.0
POWER = 0.999
"""Share of the velocity's power below the bandwidth."""

ACCURACY = 0.1
"""Of the fastest sine seen, in bins of the spectrum: its peak is interpolated."""

NOISE_SHARE = 0.1
"""Largest share of noise in the computed accelerations before the cut-off is lowered."""


def automatic_cutoff(position: Array, rate: float) -> float:
    """Cut-off of the low pass, in [Hz].

    Eight times the bandwidth of the motion (the frequency that 99.9 % of the velocity's power
    lies below, all joints together), at least 20 Hz; lowered, to two bandwidths at the least,
    until the noise it lets through is 10 % of the RMS of the accelerations (median over the
    joints); never above 124 Hz or a fifth of the sampling rate. Noise of the position is taken
    as white, see `noise_density`.

    :param position: shape (N, n), N >= 16, in [rad] or [m]
    :param rate: sampling rate, in [Hz]
    """
    highest = min(MAX_CUTOFF_SHARE * rate, MAX_CUTOFF - 1.0)
    frequency, power = _acceleration_power(position, rate)
    angular = _difference_gain(frequency, rate)
    noise = _noise_density(position, rate, frequency, power)
    floor = noise * angular[:, None] ** 4
    # Single bins of noise exceed its mean by chance, none of thousands tenfold.
    clean = np.where(power > 10.0 * floor, power - floor, 0.0)
    moving = clean.sum(axis=0) > 0.0
    if not moving.any():
        return min(LOWEST, highest)
    velocity = clean[1:].sum(axis=1) / angular[1:] ** 2
    share = np.cumsum(velocity) / max(float(velocity.sum()), 1e-300)
    bandwidth = float(frequency[1:][np.argmax(share >= POWER)])
    # White noise of density s in position gives s w^4 in acceleration; up to f: s (2 pi)^4 f^5/5.
    allowed = NOISE_SHARE**2 * clean.sum(axis=0)[moving] * (frequency[1] - frequency[0])
    limit = (5.0 * allowed / np.maximum(noise[moving], 1e-300) / (2.0 * np.pi) ** 4) ** 0.2
    cutoff = min(max(BANDWIDTHS * bandwidth, LOWEST), float(np.median(limit)))
    return float(min(max(cutoff, FEWEST_BANDWIDTHS * bandwidth), highest))


def check_passes(cutoff: float, position: Array, rate: float) -> None:
    """Refuse a cut-off that would not let the motion through.

    softMC document, explanation of the example program: the cut-off must be larger than the
    largest sine-wave frequency. That is seen from the positions.

    :param cutoff: in [Hz]
    :param position: shape (N, n), N >= 16, in [rad] or [m]
    :raises IdentificationError: the cut-off is not above it
    """
    fastest = fastest_sine(position, rate)
    if cutoff <= fastest + ACCURACY * rate / len(position):
        raise IdentificationError(
            f'the filter cut-off must be above the fastest sine of the motion, {fastest:.3g} Hz, '
            f'got {cutoff:g} Hz'
        )


def fastest_sine(position: Array, rate: float) -> float:
    """Fastest frequency of a motion made of sines, in [Hz], to a tenth of 1/T in T seconds.

    Over all joints, the highest frequency at which the spectrum of the velocity has a peak of at
    least half the amplitude of the joint's highest one (harmonics that friction causes are
    smaller), and that of the position one of 3 % (vibrations are smaller), ten times above the
    noise. 0: nothing moves. Motions that are no sines have their power at low frequencies, and
    so hardly limit a cut-off.

    :param position: shape (N, n), N >= 16, in [rad] or [m]
    :param rate: sampling rate, in [Hz]
    """
    frequency, power = signal.periodogram(position, rate, 'hann', detrend='linear', axis=0)
    noise = noise_density(position, rate)
    power = np.where(power > 10.0 * np.maximum(noise, 1e-300), power, 0.0)
    velocity = power * (2.0 * np.pi * frequency[:, None]) ** 2
    peak = velocity >= 0.25 * velocity.max(axis=0)
    peak &= (velocity > 0.0) & (power > 1e-3 * power.max(axis=0))
    peak[1:] &= velocity[1:] >= velocity[:-1]
    peak[:-1] &= velocity[:-1] > velocity[1:]
    # What a joint that only shakes does is not the motion's.
    stroke = np.ptp(position, axis=0)
    peak[:, stroke < 1e-3 * stroke.max(initial=0.0)] = False
    highest = np.flatnonzero(peak.any(axis=1))
    if not len(highest):
        return 0.0
    return _summit(power[:, peak[highest[-1]]], int(highest[-1])) * float(frequency[1])


def _summit(power: Array, index: int) -> float:
    """Highest peak of spectra (k, m) at a bin, between bins: a parabola through logarithms."""
    if not 0 < index < len(power) - 1:
        return float(index)
    left, middle, right = np.log(np.maximum(power[index - 1 : index + 2], 1e-300))
    bend = left - 2.0 * middle + right
    part = np.where(bend < 0.0, 0.5 * (left - right) / np.minimum(bend, -1e-12), 0.0)
    return float(index + np.clip(part, -0.5, 0.5).max())


def noise_density(position: Array, rate: float) -> Array:
    """Spectral density of the noise of each joint's position, shape (n,), in [rad^2/Hz].

    The mean of the spectrum above 0.6 of the Nyquist frequency, where the robot does not move,
    and at least that of an encoder with the resolution seen: steps of size r have the variance
    r^2/12, spread up to half the rate at which steps occur.

    :param position: shape (N, n), N >= 16, in [rad] or [m]
    :param rate: sampling rate, in [Hz]
    """
    return _noise_density(position, rate, *_acceleration_power(position, rate))


def _noise_density(position: Array, rate: float, frequency: Array, power: Array) -> Array:
    """The same, with the spectrum of the acceleration."""
    upper = frequency > 0.3 * rate
    angular = _difference_gain(frequency[upper], rate)
    seen = np.mean(power[upper] / angular[:, None] ** 4, axis=0)
    steps = np.abs(np.diff(position, axis=0))
    changes = np.maximum((steps > 0.0).mean(axis=0), 1.0 / len(position)) * rate
    resolution = np.min(steps, axis=0, where=steps > 0.0, initial=np.inf)
    resolution[np.isinf(resolution)] = 0.0
    return np.asarray(np.maximum(seen, resolution**2 / 12.0 / (0.5 * changes)))


def _acceleration_power(position: Array, rate: float) -> tuple[Array, Array]:
    """Frequencies (k,) and power density (k, n) of the second difference."""
    curvature = np.diff(position, 2, axis=0) * rate**2
    length = min(len(curvature), int(2.0 ** np.ceil(np.log2(8.0 * rate))))
    frequency, power = signal.welch(curvature, rate, nperseg=length, axis=0)
    return frequency, power


def _difference_gain(frequency: Array, rate: float) -> Array:
    """Square root of what two differences make of a sine: its angular frequency, if low."""
    return np.asarray(2.0 * rate * np.sin(np.pi * frequency / rate))
