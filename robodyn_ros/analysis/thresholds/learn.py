# SPDX-License-Identifier: Apache-2.0
"""Learning of a threshold map from healthy sessions, scaled by leaving one session out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.analysis.thresholds.cells import (
    CellMaxima,
    Layout,
    bands_of,
    cell_maxima,
    level_at,
    rate_bound,
    still_speed,
    upper,
)
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.threshold_map import Bands, ThresholdMap
from robodyn_ros.errors import ControlError
from robodyn_ros.long_work import track
from robodyn_ros.models.interface import Array

LAYOUTS: tuple[Layout, ...] = (
    (1, 1, 1), (2, 1, 1), (4, 1, 1), (3, 2, 1), (4, 3, 1), (4, 1, 2), (4, 3, 2),
)  # fmt: skip
"""Numbers of bands to choose from. The first one is constant thresholds."""


BLOCK = 5.0
"""Length of the blocks, in [s]: torque errors of different blocks must be independent."""

OUTLIER = 4.0
"""Multiple of the median block's largest error above which a block counts as contact."""

CONTACT = 0.05
"""Largest share of contact in the recordings; above it, they are refused."""


@dataclass(frozen=True)
class Learning:
    """Options of learning.

    :param rate: false alarms per hour to aim at, in [1/h]; None: none in any session left out,
        and at most one per hour by the tail of their torque errors
    :param debounce: consecutive samples above a threshold that the detector counts
    """

    rate: float | None = None
    debounce: int = 2
    layouts: Sequence[Layout] = LAYOUTS


@dataclass(frozen=True)
class Learned:
    """A threshold map and what it rests on.

    :param hours: healthy motion, in [h]
    :param unvisited: share of the cells that have the largest value of their joint instead of
        their own
    """

    map: ThresholdMap
    hours: float
    alarms: int
    layout: Layout
    unvisited: float
    notes: tuple[str, ...] = field(default=())

    @property
    def rate(self) -> float:
        """False alarms per hour, not exceeded with 95 % confidence: none in T hours is 3 / T."""
        return rate_bound(self.alarms, self.hours)


@dataclass(frozen=True)
class _Trial:
    """Map of one layout before its scale, and the largest errors relative to it.

    :param value: shape (n, cells + 1), visited: the same; the last one is the change at rest
    :param ratios: for each part, shape (blocks, states): moving, passing standstill, at rest,
        change at rest
    :param scale: factor of each state, shape (states,)
    """

    layout: Layout
    bands: Bands
    value: Array
    visited: NDArray[np.bool_]
    ratios: tuple[Array, ...]
    scale: Array
    cost: float

    @property
    def collision(self) -> Array:
        """Thresholds, shape (n, cells)."""
        return (self.value * self.scale[states(self.bands.cells)])[:, :-1]

    @property
    def change(self) -> Array | None:
        """Thresholds of the change at rest, shape (n,); None: there was too little rest."""
        learned = bool(self.visited[:, -1].all())
        return self.value[:, -1] * self.scale[-1] if learned else None


def states(cells: int) -> NDArray[np.intp]:
    """Return the state of each cell: moving, passing standstill, at rest, change; (cells + 1,)."""
    return np.repeat([0, 1, 2, 3], [cells - 2, 1, 1, 1])


def learn(
    sessions: Sequence[Session], friction: Array, options: Learning | None = None
) -> Learned:
    """Learn thresholds from healthy sessions.

    In each cell, the threshold is proportional to an upper quantile of the largest torque errors
    of blocks of time. The factor of each state (moving, passing standstill, at rest, change at
    rest) is that at which each session, compared with the quantiles of all others, has its part of
    the wanted rate. The numbers of bands are those with the lowest thresholds (mean logarithm over
    joints and moving samples) at that rate. A single session is cut into four parts.

    :param friction: half the jump of friction at rest, shape (n,), in [Nm] or [N]: thresholds at
        standstill are at least that, because stiction can hold either way
    :raises ControlError: less than 20 blocks of healthy motion
    """
    options = options or Learning()
    parts = _parts(sessions)
    _check(parts)
    still = still_speed(parts)
    trials = [
        _trial(parts, bands_of(parts, still, each), each, options)
        for each in track(options.layouts, 'learning')
    ]
    best = min(trials, key=lambda trial: trial.cost)
    cleaned = _without_contact(sessions, best)
    if cleaned is not None:
        return learn(cleaned, friction, options)
    return _finish(sessions, parts, best, friction)


def _parts(sessions: Sequence[Session]) -> list[Session]:
    if len(sessions) != 1:
        return list(sessions)
    rows = np.array_split(np.arange(len(sessions[0].time)), 4)
    return [sessions[0].rows(slice(part[0], part[-1] + 1)) for part in rows]


def _check(parts: Sequence[Session]) -> None:
    hours, least = sum(part.hours for part in parts), 20 * BLOCK
    if hours * 3600.0 < least:
        raise ControlError(
            f'{", ".join(dict.fromkeys(part.source for part in parts))}: {3600.0 * hours:.3g} s '
            f'of healthy motion, expected at least {least:.3g} s: record the work of the robot '
            f'without contact for longer'
        )


def _trial(parts: Sequence[Session], bands: Bands, layout: Layout, options: Learning) -> _Trial:
    """Scale a map by leaving each part out in turn."""
    maxima = [cell_maxima(part, bands, length=BLOCK) for part in parts]
    largest = [each.largest for each in maxima]
    value, visited = upper(np.concatenate(largest))
    ratios = []
    for index, part in enumerate(parts):
        others, known = upper(np.concatenate([*largest[:index], *largest[index + 1 :]]))
        # Of a cell that the others do not know, they say nothing: not that its errors are small.
        given = np.where(known, others, value)
        ratios.append(_ratios(part, maxima[index], given, options.debounce))
    hours = sum(part.hours for part in parts)
    together = np.concatenate(ratios)
    occurring = 3 + bool(together[:, 3].any())
    rate = (options.rate or min(1.0, 0.99 / hours)) / occurring
    scale = np.array([level_at(column, hours, rate) for column in together.T])
    scale[scale == 0.0] = scale.max()  # a state that never occurred
    trial = _Trial(layout, bands, value, visited, tuple(ratios), scale, 0.0)
    return replace(trial, cost=_cost(parts, maxima, trial.collision))


def _ratios(part: Session, maxima: CellMaxima, value: Array, debounce: int) -> Array:
    """Return the largest error relative to the map in each block with samples, by state."""
    ratio = part.residual / value[np.arange(value.shape[0]), maxima.cell]
    held = _hold(ratio, part, debounce)
    starts = np.flatnonzero(np.diff(maxima.block, prepend=-1))
    state = states(value.shape[1] - 1)[maxima.cell]
    by_state = [np.where(state == each, held, 0.0) for each in range(3)]
    change = np.zeros_like(held)
    if part.change is not None:
        change = _hold(np.nan_to_num(part.change) / value[:, -1], part, debounce)
    largest = [np.maximum.reduceat(each.max(axis=1), starts) for each in (*by_state, change)]
    blocks: Array = np.stack(largest, axis=1).astype(float)
    return blocks[np.logical_or.reduceat(part.used, starts)]


def _hold(ratio: Array, part: Session, debounce: int) -> Array:
    """Return the ratio that each joint keeps: the detector counts consecutive samples."""
    ratio[~part.used] = 0.0
    held: Array = ratio.copy()
    for back in range(1, debounce):
        np.minimum(held[back:], ratio[:-back], out=held[back:])
    return held


def _cost(parts: Sequence[Session], maxima: Sequence[CellMaxima], threshold: Array) -> float:
    """Return the mean logarithm of the thresholds of moving joints."""
    logarithm = np.log(threshold)
    total = count = 0.0
    for part, each in zip(parts, maxima, strict=True):
        cell = each.cell[part.used]
        moving = cell < threshold.shape[1] - 2
        total += float(logarithm[np.arange(len(threshold)), cell][moving].sum())
        count += float(moving.sum())
    return total / max(count, 1.0)


def _without_contact(sessions: Sequence[Session], best: _Trial) -> list[Session] | None:
    """Return the sessions without samples that stand out as contact; None: there are none."""
    usual = np.concatenate(best.ratios)[:, :3].max(axis=1)
    reach = OUTLIER * float(np.median(usual))
    cleaned = [_clean(session, best, reach) for session in sessions]
    if all(each is session for each, session in zip(cleaned, sessions, strict=True)):
        return None
    before, after = (sum(each.hours for each in part) for part in (sessions, cleaned))
    if after < (1.0 - CONTACT) * before:
        raise ControlError(
            f'{100.0 * (1.0 - after / before):.0f} % of the recordings look like contact '
            f'(limit {100.0 * CONTACT:g} %): record healthy motion. '
            f'{next(each.notes[-1] for each in cleaned if each.notes)}'
        )
    return cleaned


def _clean(session: Session, best: _Trial, reach: float) -> Session:
    """Leave out a block on either side of torque errors beyond `reach` times the map."""
    cell = best.bands.cell(*session.motion(best.bands.still))
    ratio = session.residual / best.value[np.arange(len(best.value)), cell]
    worst = np.where(session.used, ratio.max(axis=1), 0.0)
    if not (worst > reach).any():
        return session
    rows = np.zeros(len(session.time), dtype=bool)
    for time in session.time[worst > reach]:
        first, last = np.searchsorted(session.time, (time - BLOCK, time + BLOCK))
        rows[first:last] = True
    row = int(worst.argmax())
    return session.without(
        rows,
        f'{session.source}: {rows.sum()} of {len(rows)} samples left out as contact: the torque '
        f'error at {session.time[row]:.6g} s is {worst[row]:.3g} times the usual largest one of '
        f'such a motion',
    )


def _finish(
    sessions: Sequence[Session], parts: Sequence[Session], best: _Trial, friction: Array
) -> Learned:
    ratios = np.concatenate(best.ratios)
    collision = best.collision
    collision[:, -2:] = np.maximum(collision[:, -2:], friction[:, None])
    moved = np.concatenate([np.abs(part.velocity[part.used]) for part in parts])
    hardest = np.max([part.acceleration[part.used].max(axis=0) for part in parts], axis=0)
    tiny = np.finfo(np.float32).tiny
    learned = ThresholdMap(
        bands=best.bands,
        collision=collision,
        contact=float(np.clip((ratios.max(axis=0) / best.scale).max(), 0.7, 1.0)),
        fastest=np.maximum(moved.max(axis=0).astype(float), tiny),
        hardest=np.maximum(hardest.astype(float), tiny),
        change=best.change,
    )
    return Learned(
        map=learned,
        hours=sum(session.hours for session in sessions),
        alarms=int((ratios > best.scale).any(axis=1).sum()),
        layout=best.layout,
        unvisited=float(1.0 - best.visited[:, :-1].mean()),
        notes=tuple(note for session in sessions for note in session.notes),
    )
