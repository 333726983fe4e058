# SPDX-License-Identifier: Apache-2.0
"""Rival readings of time: torque that is late, of all joints, of one, in a part, or filtered."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.identification.rivals.evidence import Evidence
from robodyn_ros.identification.rivals.reading import Reading
from robodyn_ros.identification.rivals.rival import Rival
from robodyn_ros.identification.signals.processed import Mask
from robodyn_ros.models.interface import Array, Indices

REACH = 0.25
"""Longest delay that is looked for, in [s]: drivers that publish with 10 Hz have half of it."""


def delays(reading: Reading) -> Iterator[Rival]:
    """Yield torque that is late: of all joints, of each joint, and from one moment on."""
    present = reading.present
    shifts = _shifts(reading)
    left = np.array(
        [_residual(reading, joint, shifts) for joint in range(present.torque.shape[1])]
    )
    known = np.isfinite(left).all(axis=1)
    if not known.any():
        return
    common = int(shifts[np.argmin(left[known].sum(axis=0))])
    every = np.full(len(known), common)
    if common:
        yield _late(reading, 'sensor_delay.all', tuple(range(len(known))), every)
    for joint in np.flatnonzero(known).tolist() if len(known) > 1 else ():
        shift = int(shifts[np.argmin(left[joint])])
        if shift and shift != common:
            alone = np.where(np.arange(len(known)) == joint, shift, 0)
            yield _late(reading, 'sensor_delay.rival', (joint,), alone)
    yield from _in_a_part(reading, shifts)


def _shifts(reading: Reading) -> Indices:
    """Return the shifts that are tried, in samples, about 100 of them."""
    reach = int(min(REACH / reading.period, len(reading.signals) // 8))
    return np.arange(-reach, reach + 1, max(1, reach // 50))


def _residual(reading: Reading, joint: int, shifts: Indices) -> Array:
    """Return the logarithm of what a joint's own fit leaves of its shifted torque, (shifts,)."""
    present = reading.present
    rows = present.rows[:, joint, :-1]
    length = np.linalg.norm(rows, axis=0)
    kept = length > 1e-9 * length.max(initial=0.0)
    if not kept.any() or kept.sum() > len(rows) // 2:
        return np.full(len(shifts), np.nan)
    basis, size, _ = np.linalg.svd(rows[:, kept] / length[kept], full_matrices=False)
    basis = basis[:, size > 1e-3 * size[0]]
    torque = reading.signals.torque[_clip(reading, shifts), joint]
    torque = torque * (present.used[:, joint] / present.size[joint])[:, None]
    square = np.sum(torque**2, axis=0)
    rest = np.maximum(square - np.sum((basis.T @ torque) ** 2, axis=0), 0.0)
    return np.asarray(np.log(rest / np.maximum(square, 1e-300) + 1e-3))


def _clip(reading: Reading, shifts: Indices) -> Indices:
    """Return the samples at shifts from those compared, shape (M, shifts)."""
    return np.asarray(np.clip(reading.rows[:, None] + shifts, 0, len(reading.signals) - 1))


def _late(reading: Reading, key: str, joints: tuple[int, ...], shift: Indices) -> Rival:
    """Return torques that are late by numbers of samples (n,)."""
    torque = reading.signals.torque[_clip(reading, shift), np.arange(len(shift))]
    delay = float(shift[joints[0]]) * reading.period * 1e3
    late = {'delay': abs(delay), 'direction': 'after' if delay > 0.0 else 'before'}
    return Rival(key, joints, reading.present.read(torque=torque), late, fitted=1)


def _in_a_part(reading: Reading, shifts: Indices) -> Iterator[Rival]:
    """Yield the delay from one moment on, or up to it, that explains most."""
    present, blocks = reading.present, reading.present.labels[0]
    best: tuple[float, Mask, int, int] | None = None
    late = reading.signals.torque[_clip(reading, shifts)]  # (M, shifts, n)
    for block in range(2, int(blocks.max())):
        for part in (blocks >= block, blocks < block):
            fit = present.read(used=present.used & ~part[:, None]).values
            rest = late[part] - (present.regressor[part] @ fit)[:, None, :]
            rest = rest * (present.used[part] / present.size)[:, None, :]
            left = np.log1p(np.mean(rest**2, axis=0)).sum(axis=1)
            gained = float(left[len(shifts) // 2] - left.min())
            if best is None or gained > best[0]:
                best = (gained, part, int(shifts[np.argmin(left)]), block)
    if best is None or not best[2]:
        return
    _, part, coarse, block = best
    near = coarse + np.arange(1 - int(shifts[1] - shifts[0]), int(shifts[1] - shifts[0]))
    tried = {int(each): _shift(reading, part, int(each)) for each in near}
    shift = min(tried, key=lambda each: tried[each].error)
    time = reading.signals.time[reading.rows[int(np.argmax(blocks >= block))]]
    words = 'before' if part[0] else 'after'
    values = {'delay': shift * reading.period * 1e3, 'part': f'{words} {time:.3g} s'}
    yield Rival('delay_changes', (), tried[shift], values, least=1.0, fitted=2)


def _shift(reading: Reading, part: Mask, shift: int) -> Evidence:
    """Return the samples with the torque of a part of them shifted, in samples."""
    rows = np.where(part, _clip(reading, np.array([shift]))[:, 0], reading.rows)
    return reading.present.read(torque=reading.signals.torque[rows])


def filters(reading: Reading) -> Iterator[Rival]:
    """Yield torque behind a low pass of first order in the drive or the driver."""
    raw = reading.signals.measured
    for cutoff in (1.0, 2.0, 4.0, 8.0):
        pole = np.exp(-2.0 * np.pi * cutoff * reading.period)
        if pole > 0.5:  # else it passes what the motion has
            before = raw.copy()
            before[1:] = (raw[1:] - pole * raw[:-1]) / (1.0 - pole)
            read, values = reading.with_torque(before), {'cutoff': cutoff}
            yield Rival('torque_filtered', (), read, values, fitted=2)
