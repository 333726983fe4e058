# SPDX-License-Identifier: Apache-2.0
"""Rival readings of the torque signal: lost, of two sources, unsigned, wrapped, cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy  # its parts at their first use: scipy.ndimage takes time

from robodyn_ros.identification.fit.choice import MOST
from robodyn_ros.identification.rivals.evidence import Evidence
from robodyn_ros.identification.rivals.reading import Reading
from robodyn_ros.identification.rivals.rival import SURE, Rival
from robodyn_ros.models.interface import Array

LEVELS = (0.8, 0.9, 0.96, 0.99, 0.998)
"""Quantiles of the absolute torque at which a limit is looked for: noise hides where it is."""
BELOW = 0.92
"""Share of a limit up to which torque is taken as not cut off, so that noise has no say."""
SHORTEST = 0.1
"""Time for which the torque of a moving joint does not stay the same to the last digit, in [s]."""

COARSE = 20
"""Different values of a torque that is measured in coarse steps: it stays at one often."""

FELT = 0.15
"""Share of the torque that a disturbance has at least: a model of links lacks as much."""


def losses(reading: Reading) -> Iterator[Rival]:
    """Yield torque that stays at one value, the largest or another, although its joint moves."""
    raw, position = reading.signals.measured, reading.signals.position
    stays = np.zeros(raw.shape, dtype=bool)
    least = max(5, round(SHORTEST / reading.period))
    fine = [joint for joint in range(raw.shape[1]) if len(np.unique(raw[:, joint])) > COARSE]
    for joint in fine:
        same = np.diff(raw[:, joint]) == 0.0
        edges = np.flatnonzero(np.diff(same, prepend=False, append=False)).reshape(-1, 2)
        stroke = np.ptp(position[:, joint])
        for start, end in edges[edges[:, 1] - edges[:, 0] >= least]:
            moves = np.ptp(position[start : end + 1, joint]) > 0.02 * stroke
            stays[start : end + 1, joint] = moves
    margin = 1e-4 * np.abs(raw).max(axis=0)
    largest = (raw >= raw.max(axis=0) - margin) | (raw <= raw.min(axis=0) + margin)
    largest &= np.abs(raw) > margin  # nothing is lost torque, of one sign or not
    keys = 'torque_lost', 'torque_saturation.level'
    for key, gone in zip(keys, (stays & ~largest, stays & largest), strict=True):
        joints = np.flatnonzero(gone.mean(axis=0) > 0.01)
        if len(joints):
            wide = scipy.ndimage.maximum_filter1d(gone, 2 * least + 1, axis=0)[reading.rows]
            evidence = reading.present.read(used=reading.present.used & ~wide)
            first, last = np.flatnonzero(gone[:, joints].any(axis=1))[[0, -1]]
            values = {
                'share': float(gone[:, joints].mean()),
                'start': reading.signals.time[first],
                'end': reading.signals.time[last],
            }
            yield Rival(key, tuple(joints.tolist()), evidence, values, least=0.1, certain=1.0)


def sources(reading: Reading) -> Iterator[Rival]:
    """Yield torque that is zero in single samples: messages of a publisher without torque."""
    raw = reading.recorded
    nothing = raw == 0.0
    least = max(5, round(SHORTEST / reading.period))
    long = scipy.ndimage.binary_opening(nothing, np.ones((2 * least, 1)))  # that is lost torque
    zero = nothing & ~long
    share = zero.mean(axis=0)
    joints = np.flatnonzero((share > 0.02) & (share < 0.9))
    if not len(joints):
        return
    filled, rows = raw.copy(), np.arange(len(raw))
    for joint in joints:
        known = ~zero[:, joint]
        filled[:, joint] = np.interp(rows, rows[known], raw[known, joint])
    values = {'share': float(share[joints].mean())}
    evidence = reading.with_recorded(filled)
    yield Rival('two_sources', tuple(joints.tolist()), evidence, values, least=0.1, certain=1.0)


def missing_signs(reading: Reading) -> Iterator[Rival]:
    """Yield torque without its sign, which the model's own torque gives back step by step."""
    raw, present = reading.signals.measured, reading.present
    rms = np.sqrt(np.mean(raw**2, axis=0))
    joints = raw.min(axis=0) >= 0.0
    if not (joints & (np.quantile(raw, 0.02, axis=0) < 0.15 * rms)).any():
        return
    prior = np.nan_to_num(present.model.prior())
    starts = [present.model.torque(*reading.signals.motion, prior), reading.signals.velocity]
    tried = [_add_signs(reading, joints, start) for start in starts if start.any()]
    best = min(tried, key=lambda each: each.error)
    least, certain = (0.2, 1.0) if joints.all() and len(joints) > 1 else (0.6, SURE)
    names = tuple(np.flatnonzero(joints).tolist())
    yield Rival('torque_unsigned', names, best, least=least, certain=certain)


def _add_signs(reading: Reading, joints: Array, start: Array) -> Evidence:
    """Return the samples with signs (N, n) as a fit gives them, started with those of `start`."""
    raw, sign = reading.signals.measured, np.where(start < 0.0, -1.0, 1.0)
    base, model = reading.present.base, reading.present.model
    for _ in range(12):
        evidence = reading.with_torque(np.where(joints, sign * raw, raw))
        regressor = model.select_columns(*reading.signals.motion, base.columns)
        fresh = np.where(regressor @ evidence.values < 0.0, -1.0, 1.0)
        if (fresh == sign)[:, joints].mean() > 0.999:
            break
        sign = fresh
    return evidence


def wraps(reading: Reading) -> Iterator[Rival]:
    """Yield torque in two groups of values that are 2^16 (2^8, 2^32) of its steps apart."""
    raw = reading.recorded
    joints, fixed = [], raw.copy()
    for joint, values in enumerate(raw.T):
        levels = np.unique(values)
        gaps = np.diff(levels)
        if len(gaps) < 10 or gaps.max() < 0.5 * np.ptp(values):
            continue
        edge = int(np.argmax(gaps))
        high = values > levels[edge]
        step = float(gaps[gaps > 1e-6 * gaps.max()].min())
        sizes = step * 2.0 ** np.array([8, 12, 16, 32])
        size = sizes[np.argmin(np.abs(np.log(sizes / gaps.max())))]
        below, above, last = levels[[edge, edge + 1, -1]] / size
        if levels[0] < 0.0 or not below < 0.5 <= above <= last <= 1.0:
            continue  # friction of two directions has two groups of values as well
        fixed[high, joint] -= size
        joints.append(joint)
    if joints:
        yield Rival(
            'torque_wrapped', tuple(joints), reading.with_recorded(fixed), least=0.2, certain=1.0
        )


def saturations(reading: Reading) -> Iterator[Rival]:
    """Yield torque of a joint that ends at a limit, where the model of smaller torques goes on."""
    present = reading.present
    for joint in np.flatnonzero(present.used.any(axis=0)).tolist():
        torque = present.torque[:, joint]
        size, tried = np.abs(torque), []
        for level in np.unique(np.quantile(size, LEVELS)):
            used = present.used.copy()
            used[:, joint] &= size < BELOW * level
            read = present.read(used=used, compared=used)
            modelled = read.predicted[:, joint]
            error = float(np.mean((np.clip(modelled, -level, level) - torque) ** 2))
            tried.append((error, np.abs(modelled), read, size[np.abs(modelled) > level]))
        error, modelled, read, beyond = min(tried, key=lambda each: each[0])
        straight = np.clip(present.predicted[:, joint], -size.max(), size.max())
        if len(beyond) and error < MOST * float(np.mean((straight - torque) ** 2)):
            limit = float(np.median(beyond))
            above = modelled > limit
            values = {
                'level': limit,
                'unit': present.model.joints[joint].torque_unit,
                'share': float(above.mean()),
                'beyond': float(np.quantile(modelled[above], 0.98)) if above.any() else limit,
            }
            yield Rival(
                'torque_saturation', (joint,), read, values, least=0.1, certain=5.0, last=True
            )


def disturbances(reading: Reading) -> Iterator[Rival]:
    """Yield intervals whose torque the model of the other samples does not explain."""
    present = reading.present
    block = np.arange(len(reading.rows)) * 40 // len(reading.rows)
    used, mean = present.used, np.zeros(40)
    for _ in range(4):  # least squares would spread the error of a disturbance over the others
        rest = (present.torque - replace(present, used=used).predicted) / present.size
        count = np.maximum(np.bincount(block), 1)
        mean = np.bincount(block, np.sum(present.used * rest**2, axis=1)) / count
        mean[:4] = mean[-4:] = np.median(mean)  # a motion starts and ends in its own way
        runs, count = scipy.ndimage.label(mean > 4.0 * np.median(mean))
        bad = runs == 1 + int(np.argmax(np.bincount(runs, mean, count + 1)[1:])) if count else runs
        if not bad.any() or bad.sum() > 13:
            return
        used = present.used & ~bad[block][:, None]
    size = np.log(mean + 1e-12)
    scatter = np.median(np.abs(size - np.median(size))) / 0.6745
    if size.max() < np.median(size) + 3.0 * scatter:
        return
    where = np.flatnonzero(bad[block])
    rest = (present.torque - replace(present, used=used).predicted)[where]
    if np.sqrt(np.mean(rest**2, axis=0).sum() / np.sum(reading.rms**2)) < FELT:
        return
    times = reading.signals.time[reading.rows[where[[0, -1]]]]
    evidence = present.read(used=used, compared=used)
    values = {'start': times[0], 'end': times[1]}
    yield Rival('disturbed_interval', (), evidence, values, least=0.25, certain=5.0, last=True)
