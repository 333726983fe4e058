"""A recording on equal steps of time: which stamps to believe, and what to do about gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate

from robodyn_ros.findings import Finding, finding
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.checks import OFTEN_REPEATED
from robodyn_ros.recording.recording import Recording

Mask = NDArray[np.bool_]


NO_JITTER = 1e-3
"""Periods that a stamp may be off equal steps for both readings to be the same."""

AT_REST = 0.05
"""Time that signals must stay for to be at rest, in [s]."""


def on_grid(
    recording: Recording, time: Array | None = None
) -> tuple[Recording, Mask, tuple[Finding, ...]]:
    """Return a recording with equal time steps, the samples that lie in gaps (N,), and findings.

    Where samples are missing, or not taken at equal steps, signals are interpolated; what lies in
    a gap longer than two periods is marked and not used.

    :param time: when the samples were taken (see `sample_times`), shape (N,); None: looked for
    """
    count = len(recording)
    time = sample_times(recording) if time is None else time
    period = float(np.median(np.diff(time)))
    even = np.linspace(time[0], time[-1], count)
    if np.abs(time - even).max() <= NO_JITTER * period:
        uniform = _replaced(recording, even, recording.position, recording.torque)
        return uniform, np.zeros(count, dtype=bool), ()
    grid = time[0] + period * np.arange(int((time[-1] - time[0]) / period * (1 + 1e-12)) + 1)
    position = interpolate.make_interp_spline(time, recording.position, k=3)(grid)
    torque = interpolate.make_interp_spline(time, recording.torque, k=1)(grid)
    after = np.clip(np.searchsorted(time, grid), 1, count - 1)
    before, behind = time[after - 1] + 0.25 * period, time[after] - 0.25 * period
    gaps = (behind - before > 2.0 * period) & (grid > before) & (grid < behind)
    # A cubic spline leads far away from both ends of a long gap.
    position[gaps] = interpolate.PchipInterpolator(time, recording.position)(grid[gaps])
    found = finding('interpolated', rate=1.0 / period, gaps=int(gaps.sum()), samples=len(grid))
    return _replaced(recording, grid, position, torque), gaps, (found,)


def measured(recording: Recording) -> tuple[Recording, tuple[Finding, ...]]:
    """Return a recording without samples that repeat all values of the one before.

    They are no measurements where they last, as with drives that are off, or where many short
    runs end in a move: messages are sent more often than the drives measure.
    """
    same = np.zeros(len(recording), dtype=bool)
    same[1:] = True
    for values in (recording.position, recording.torque):
        same[1:] &= (values[1:] == values[:-1]).all(axis=1)
    if np.mean(same[:-1] & ~same[1:]) <= OFTEN_REPEATED:
        edges = np.flatnonzero(np.diff(same, prepend=False, append=False)).reshape(-1, 2)
        for start, end in edges[np.diff(edges)[:, 0] * recording.period < AT_REST]:
            same[start:end] = False
    rows = np.flatnonzero(same)
    if not len(rows):
        return recording, ()
    off = rows[(recording.torque[rows] == 0.0).all(axis=1)]
    switched_off = len(off) > len(rows) / 2
    named = off if switched_off else rows
    found = finding(
        'drives_off' if switched_off else 'held_samples',
        samples=len(rows),
        all=len(recording),
        start=recording.time[named[0]],
        end=recording.time[named[-1]],
    )
    return recording.slice(np.flatnonzero(~same)), (found,)


def sample_times(recording: Recording) -> Array:
    """Return the times at which the samples of a recording were taken, shape (N,), in [s].

    Stamps that are off equal steps by less than a period are usually the transport's: the samples
    were taken at equal steps. But a recorder that takes the newest of a faster stream has stamps
    that are right although they are uneven. The wrong reading of them makes a smooth motion rough,
    by its velocity times the error.
    """
    time, count, period = recording.time, len(recording), recording.period
    even = np.linspace(time[0], time[-1], count)
    off = float(np.abs(time - even).max())
    if off > period:
        return time
    if off <= NO_JITTER * period or count < 8:
        return even
    stamped, equal = (_roughness(recording.position, each) for each in (time, even))
    # Equal steps are usual: the stamps must make the motion clearly smoother.
    return time if stamped < 0.7 * equal else even


def _roughness(position: Array, time: Array) -> float:
    """Return how far samples are from a cubic through the four around them (RMS).

    Geometric mean over the joints, at those samples at which each moves faster than usual.
    """
    count = len(time)
    rows = np.unique(np.linspace(2, count - 3, min(count, 4000)).astype(np.intp))
    around = rows[:, None] + np.array([-2, -1, 1, 2])
    weights = np.ones(around.shape)
    for one in range(4):
        for other in set(range(4)) - {one}:
            weights[:, one] *= time[rows] - time[around[:, other]]
            weights[:, one] /= time[around[:, one]] - time[around[:, other]]
    middle, near = position[rows], position[around]
    error = np.abs(middle - np.einsum('mk,mkn->mn', weights, near))
    way = np.abs(near[:, 3] - near[:, 0])
    usual = np.median(way, axis=0)
    moving = usual > 0.0
    if not moving.any():
        return 0.0
    size = np.sqrt(np.mean(error**2, axis=0, where=way >= usual))[moving]
    return float(np.exp(np.mean(np.log(np.maximum(size, 1e-6 * usual[moving])))))


def _replaced(recording: Recording, time: Array, position: Array, torque: Array) -> Recording:
    return Recording(
        time=time,
        joints=recording.joints,
        position=position,
        torque=torque,
        source=recording.source,
    )
