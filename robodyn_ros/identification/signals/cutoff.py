# SPDX-License-Identifier: Apache-2.0
"""Cut-off frequency of the low pass, from the data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy  # its parts at their first use: scipy.signal takes half a second
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array
from robodyn_ros.recording.fresh import COARSE
from robodyn_ros.recording.signals import MAX_CUTOFF, MAX_CUTOFF_SHARE, white_noise

Mask = NDArray[np.bool_]

LOWEST = 20.0
"""Not lower than this [Hz] unless noise demands it (the value of softMC's examples)."""

BANDWIDTHS = 8.0
"""Times the bandwidth of the motion, so that the low pass does not touch it (5 and
more are usual; Gautier 1997)."""

FEWEST_BANDWIDTHS = 2.0
POWER = 0.999
"""Share of the velocity's power below the bandwidth."""

MOST = 0.8
"""Share of the velocity's power below which a spectrum is that of the motion, not of noise."""

BEYOND_NOISE = 20.0
"""Times the standard deviation of its noise, what a joint's stroke exceeds if it moves."""

FALL = 100.0
"""Factor by which the spectrum of a moving joint's velocity falls somewhere towards higher
frequencies. At rest it does not fall: it is flat where the position drifts at random, and rises
where its noise is white."""

SMALL_STROKE = 0.02
"""Share of the largest stroke below which a stroke can be a drift at rest, by its spectrum."""

SHORTEST = 16
"""Fewest samples of a spectrum, for recordings with less than two samples per second."""

LEAST_STROKE = 1e-9
"""Stroke [rad or m] below which positions differ by rounding only."""

NOISE_SHARE = 0.1
"""Largest share of noise in the computed accelerations before the cut-off is lowered."""


@dataclass(frozen=True)
class Cutoffs:
    """Range of cut-offs of a recording's low pass, and the one in it that is used, in [Hz].

    :param lowest: below it the low pass removes motion
    :param used: of the position
    :param highest: of the torque; a higher one adds nothing but noise
    """

    lowest: float
    used: float
    highest: float

    def at(self, used: float) -> Cutoffs:
        """Return the same with another cut-off of the position, at least the lowest."""
        used = max(used, self.lowest)
        return Cutoffs(self.lowest, used, max(used, self.highest))

    def like(self, other: Cutoffs, rate: float) -> Cutoffs:
        """Return the same with the cut-off of another recording, a higher one if this is faster.

        A lower one would remove motion that the parameters were fitted to.
        """
        share = max(1.0, self.highest / other.highest)
        return self.at(min(share * other.used, MAX_CUTOFF_SHARE * rate))


def automatic_cutoff(position: Array, rate: float) -> float:
    """Return the cut-off of the low pass by the spectrum, in [Hz], see `motion_cutoffs`.

    :param position: shape (N, n), N >= 16, in [rad] or [m]
    :param rate: sampling rate, in [Hz]
    """
    return cutoffs_of(position, rate).used


def cutoffs_of(position: Array, rate: float, gaps: Mask | None = None) -> Cutoffs:
    """Return `motion_cutoffs`, or the usual ones where nothing moves."""
    return motion_cutoffs(position, rate, gaps) or usual_cutoffs(rate)


def motion_cutoffs(position: Array, rate: float, gaps: Mask | None = None) -> Cutoffs | None:
    """Return the range of the low pass and the cut-off by the spectrum; None: nothing moves.

    The bandwidth is the frequency that 99.9 % of the velocity's power lies below, all joints
    together. The lowest cut-off is twice the bandwidth, the highest eight times, at least
    20 Hz; none is above 124 Hz or a fifth of the sampling rate. Noise lowers the highest one
    until it passes 10 % of the RMS of the accelerations (median over the joints).

    :param position: shape (N, n), N >= 16, in [rad] or [m]
    :param rate: sampling rate, in [Hz]
    :param gaps: samples that are interpolated over gaps, shape (N,)
    """
    if len(position) < SHORTEST:
        return None
    frequency, power = _acceleration_power(position, rate, gaps)
    white = _white(position, rate, frequency, power)
    angular = _difference_gain(frequency, rate)[:, None]
    density = power[1:] / angular[1:] ** 4
    limit, noise = _limits(frequency[1:], density, power[1:], white)
    moving = (limit > 0.0) & moving_joints(position)
    if not moving.any():
        return None
    limited, floor = float(np.median(limit[moving])), noise * angular**4
    # Single bins of noise exceed its mean by chance, none of thousands tenfold. Bins above the
    # limit of the low pass do not count: jitter of stamps makes tones there, which are small.
    motion = (power > 10.0 * floor) & moving & (frequency[:, None] <= limited)
    velocity = np.where(motion, power - floor, 0.0)[1:].sum(axis=1) / angular[1:, 0] ** 2
    below = np.cumsum(velocity)
    bandwidth = float(frequency[1:][np.argmax(below >= POWER * below[-1])])
    most = min(MAX_CUTOFF_SHARE * rate, MAX_CUTOFF - 1.0)
    highest = min(max(BANDWIDTHS * bandwidth, lowest_cutoff(rate)), most)
    lowest = min(FEWEST_BANDWIDTHS * bandwidth, highest)
    return Cutoffs(lowest, max(min(limited, highest), lowest), highest)


def usual_cutoffs(rate: float) -> Cutoffs:
    """Return the range for this sampling rate [Hz] where nothing is known of the motion."""
    return Cutoffs(*[lowest_cutoff(rate)] * 3)


def lowest_cutoff(rate: float) -> float:
    """Return lowest cut-off [Hz] at this sampling rate [Hz] where noise demands no lower one."""
    return min(LOWEST, MAX_CUTOFF_SHARE * rate)


def _limits(frequency: Array, density: Array, power: Array, least: Array) -> tuple[Array, Array]:
    """Cut-offs (n,) from which on accelerations are noisy, and the density (n,) of that noise.

    Noise is measured up to two octaves above each cut-off, where the spectrum of the position is
    flat: at higher frequencies the drive may have filtered it. The limit is the first cut-off that
    passes too much, above those of the motion, whose spectrum may be flat too (a chirp). 0 for a
    joint that does not move.
    """
    step, count = frequency[0], int(np.argmin(frequency <= 0.6 * frequency[-1]))
    below = np.cumsum(power, axis=0) * step
    tried = np.unique(np.geomspace(1, max(count, 2), 100).astype(int)) - 1
    noise = np.array([np.median(density[k : 4 * k + 4], axis=0) for k in tried])
    noise = np.maximum(noise, least)
    # White noise of density s in position gives s w^4 in acceleration; up to f: s (2 pi)^4 f^5/5.
    passed = noise * ((2.0 * np.pi) ** 4 * frequency[tried, None] ** 5 / 5.0)
    room = NOISE_SHARE**2 * np.maximum(below[tried] - passed, 0.0) / np.maximum(passed, 1e-300)
    allowed = room >= 1.0
    speed = np.where(density > 10.0 * least, density * frequency[:, None] ** 2, 0.0).cumsum(axis=0)
    room = np.where(speed[tried] >= MOST * speed[-1], room, 0.0)
    first = np.argmax(room >= np.minimum(room.max(axis=0), 1.0), axis=0)
    after = ~allowed & (np.arange(len(tried))[:, None] > first)
    last = np.where(after.any(axis=0), np.argmax(after, axis=0), len(tried)) - 1
    last = np.maximum(last, first)
    joints = np.arange(density.shape[1])
    limits = frequency[tried[last]] * room[last, joints] ** 0.2
    # A tenth of the power is noise's own by chance at most.
    return np.where(room.max(axis=0) >= 10.0 * NOISE_SHARE**2, limits, 0.0), noise[last, joints]


def long_gaps(gaps: Mask, rate: float, cutoff: float, reach: int = 0) -> Mask:
    """Return the samples in gaps that hide motion (N,): longer than half a period of a cut-off.

    :param reach: samples around these gaps that belong to them too
    """
    result = np.zeros_like(gaps)
    for begin, end in np.flatnonzero(np.diff(gaps, prepend=False, append=False)).reshape(-1, 2):
        if end - begin > 0.5 * rate / cutoff:
            result[max(0, begin - reach) : end + reach] = True
    return result


def moving_joints(position: Array) -> NDArray[np.bool_]:
    """Return which joints (n,) move: a joint at rest has the noise and steps of its encoder only.

    Or it drifts, as a drive that holds its position: its velocity has no falling spectrum.

    :param position: shape (N, n), in [rad] or [m]
    """
    stroke = np.ptp(position, axis=0)
    if len(position) < 16:
        return np.asarray(stroke > LEAST_STROKE)
    steps = np.abs(steps_of(position))
    smallest = [np.quantile(sizes[sizes > 0.0], 0.01) if sizes.any() else 0.0 for sizes in steps.T]
    least = np.maximum(BEYOND_NOISE * white_noise(position), COARSE * np.array(smallest))
    beyond = stroke > np.maximum(least, LEAST_STROKE)
    # Within one minute of arc, the lost motion of a gear, a drive at rest wanders too.
    small = beyond & (stroke < max(SMALL_STROKE * stroke.max(initial=0.0), 3e-4))
    if small.any():
        beyond[small] = _falls(position[:, small])
    return np.asarray(beyond)


def steps_of(position: Array) -> Array:
    """Return the steps from sample to sample, (N - 1, ..); those that rounding makes are 0."""
    steps = np.diff(position, axis=0)
    rounding = 4.0 * np.finfo(float).eps * np.abs(position).max(axis=0)
    return np.where(np.abs(steps) > rounding, steps, 0.0)


def _falls(position: Array) -> NDArray[np.bool_]:
    """Return which joints (n,) have a velocity whose spectrum falls, see `FALL`."""
    # A jump has a flat spectrum too: it is bounded, and the median is over many pieces.
    speed = np.diff(position, axis=0)
    bound = 2.0 * np.quantile(np.abs(speed), 0.95, axis=0)
    speed = np.clip(speed, -bound, bound)
    length = min(len(speed), max(64, len(speed) // 8))
    velocity = scipy.signal.welch(speed, nperseg=length, axis=0, average='median')[1][1:]
    # Octaves of so many bins that their mean does not vary by chance.
    edges = 2 ** np.arange(3, int(np.log2(max(len(velocity), 8))) + 1)
    if len(edges) < 2:
        return np.ones(position.shape[1], dtype=bool)
    octaves = np.array([velocity[a:b].mean(axis=0) for a, b in pairwise(edges)])
    lowest = velocity[: edges[0]].mean(axis=0)
    highest = np.maximum.accumulate(np.vstack([lowest, octaves[:-1]]), axis=0)
    return np.asarray((highest > FALL * octaves).any(axis=0))


def noise_density(position: Array, rate: float) -> Array:
    """Return spectral density of the noise of each joint's position, shape (n,), in [rad^2/Hz].

    The mean of the spectrum above 0.6 of the Nyquist frequency, where the robot does not move,
    and at least that of an encoder with the resolution seen.

    :param position: shape (N, n), N >= 16, in [rad] or [m]
    :param rate: sampling rate, in [Hz]
    """
    frequency, power = _acceleration_power(position, rate)
    return _white(position, rate, frequency, power)


def _white(position: Array, rate: float, frequency: Array, power: Array) -> Array:
    """Return the density of the noise (n,) from the spectrum (k, n) of the second difference."""
    upper = frequency > 0.3 * rate
    angular = _difference_gain(frequency[upper], rate)
    seen = np.mean(power[upper] / angular[:, None] ** 4, axis=0)
    return np.asarray(np.maximum(seen, _encoder_density(position, rate)))


def _encoder_density(position: Array, rate: float) -> Array:
    """Return the noise of the resolution seen: steps of size r have the variance r^2/12."""
    steps = np.abs(steps_of(position))
    changes = np.maximum((steps > 0.0).mean(axis=0), 1.0 / len(position)) * rate
    resolution = np.min(steps, axis=0, where=steps > 0.0, initial=np.inf)
    resolution[np.isinf(resolution)] = 0.0
    return np.asarray(resolution**2 / 12.0 / (0.5 * changes))


def _acceleration_power(
    position: Array, rate: float, gaps: Mask | None = None
) -> tuple[Array, Array]:
    """Return the frequencies (k,) and power density (k, n) of the second difference."""
    curvature = np.diff(position, 2, axis=0) * rate**2
    if gaps is not None:
        long = long_gaps(gaps, rate, lowest_cutoff(rate))
        inner = curvature[~(long[:-2] | long[1:-1] | long[2:])]
        curvature = inner if len(inner) >= max(SHORTEST, len(curvature) / 10) else curvature
    length = min(len(curvature), max(SHORTEST, int(2.0 ** np.ceil(np.log2(8.0 * rate)))))
    frequency, power = scipy.signal.welch(curvature, rate, nperseg=length, axis=0)
    return frequency, power


def _difference_gain(frequency: Array, rate: float) -> Array:
    """Return square root of what two differences make of a sine: its angular frequency, if low."""
    return np.asarray(2.0 * rate * np.sin(np.pi * frequency / rate))
