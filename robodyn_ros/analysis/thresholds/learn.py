# SPDX-License-Identifier: Apache-2.0
"""Learning of a ramp law from healthy sessions; each part is compared with the law of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from robodyn_ros.analysis.thresholds.moments import (
    PRIOR,
    Blocks,
    Sums,
    add_sums,
    autocovariance,
    blocks_of,
    compute_squared_error,
    covariance,
    prediction,
    regression_sums,
    ridge,
    scales,
    score_counts,
)
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.analysis.thresholds.tail import Tails, rate_bound
from robodyn_ros.control.collision.motion_bands import Bands
from robodyn_ros.control.collision.ramp_law import KINDS, LEVEL, ORDER, SCORES, RampLaw
from robodyn_ros.errors import ControlError
from robodyn_ros.long_work import track
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.signals import white_noise

BLOCK = 5.0
"""Length of the blocks, in [s]: torque errors of different blocks must be independent."""
USUAL = 10.0
"""False alarms per hour if no rate is asked for and the data suffice."""
OUTLIER = 4.0
"""Multiple of the median block's largest ratio above which a block counts as contact."""
CONTACT = 0.05
"""Largest share of contact in the recordings; above it, they are refused."""
PENALTIES = (1.0, 10.0, 100.0, 1000.0, 1e9)
"""Penalties of the conditional mean to choose from, in [s]; the last one is no mean."""
RESTING = 1.25
"""Smallest threshold at standstill relative to the largest torque error at rest."""
FOLDS = 12
"""Least number of parts, each compared with the law of all others: that law must have almost all
of the data. Half of the data make a law of which thresholds are up to four times too high."""
WARNINGS = 3.0
"""Contacts per collision without contact: how much more often CONTACT may be wrong."""


@dataclass(frozen=True)
class Learning:
    """Options of learning.

    :param rate: wanted false alarms per hour; None: `USUAL`, or the smallest that the data show
    :param mean: False: without the conditional mean
    :param whitening: False: without whitening
    :param scales: False: one scale per joint and score
    """

    rate: float | None = None
    mean: bool = True
    whitening: bool = True
    scales: bool = True


@dataclass(frozen=True)
class Learned:
    """A law and what it rests on.

    :param contact: contact thresholds relative to the collision thresholds
    :param wanted: rate that it was learned for, in [1/h]
    :param hours: motion of each part, in [h]
    :param maxima: largest ratios of the blocks of each part to the law of the others, relative to
        the thresholds
    """

    law: RampLaw
    contact: float
    wanted: float
    hours: tuple[float, ...]
    maxima: tuple[Array, ...]
    notes: tuple[str, ...]

    @property
    def alarms(self) -> int:
        """False alarms of the parts left out."""
        return sum(int((each > 1.0).sum()) for each in self.maxima)

    @cached_property
    def tails(self) -> Tails:
        """Tails of the largest ratios."""
        return Tails(self.maxima, self.hours)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the rate in a recording as long as these, in [1/h]."""
        rates = self.tails.rates(1.0)
        counts = np.random.default_rng(1).poisson(rates * sum(self.hours), (100, len(rates)))
        low, high = np.quantile(counts, [0.025, 0.975]) / sum(self.hours)
        return float(low), float(high)

    @property
    def rate(self) -> float:
        """False alarms per hour, not exceeded with 95 % confidence: none in T hours is 3 / T."""
        return rate_bound(self.alarms, sum(self.hours))

    def level(self, rate: float) -> float:
        """Return the thresholds for another rate, in [1/h], relative to those of the law."""
        return self.tails.level(rate)


def learn(
    sessions: Sequence[Session], period: float, friction: Array, options: Learning | None = None
) -> Learned:
    """Learn a law from healthy sessions.

    Mean, whitening, scales and covariance are learned from all sessions, which are cut into parts
    if they are few. The thresholds are those at which the parts have the wanted rate of false
    alarms, each with the law of all others.

    :param period: of the samples, in [s]
    :param friction: half the jump of friction at rest, shape (n,), in [Nm] or [N]: the threshold
        of the torque error at standstill is at least that, because stiction can hold either way,
        and above what it held at rest
    :raises ControlError: too little healthy motion, or a rate that it cannot show
    """
    options = options or Learning()
    parts, owners = _parts(sessions)
    hours = sum(part.hours for part in parts)
    while True:
        _check(parts)
        law, left_out = _law(parts, _motion(parts, period, options), options)
        pairs = list(zip(parts, left_out, strict=True))
        blocks = [blocks_of(*pair, BLOCK) for pair in track(pairs, 'learning')]
        cleaned = _without_contact(parts, owners, blocks, hours)
        if cleaned is None:
            return _finish(parts, law, blocks, friction, options)
        parts = cleaned


def _parts(sessions: Sequence[Session]) -> tuple[list[Session], Array]:
    """Return at least `FOLDS` parts of complete blocks, and the number of the session of each."""
    parts: list[Session] = []
    owners: list[int] = []
    for number, each in enumerate(sessions):
        time = each.time - each.time[0]
        blocks = max(1, round(float(time[-1]) / BLOCK))  # a short rest belongs to the last one
        count = min(ceil(FOLDS / len(sessions)), blocks)
        starts = BLOCK * np.round(np.linspace(0.0, blocks, count + 1)[:-1])
        edges = [*np.searchsorted(time, starts - 1e-9).tolist(), len(time)]
        parts += [each.rows(slice(*edge)) for edge in pairwise(edges) if edge[0] < edge[1]]
        owners += [number] * (len(parts) - len(owners))
    return parts, np.array(owners)


def _check(parts: Sequence[Session]) -> None:
    hours, least = sum(part.hours for part in parts), 20 * BLOCK
    if hours * 3600.0 < least:
        raise ControlError(
            f'{", ".join(dict.fromkeys(part.source for part in parts))}: {3600.0 * hours:.3g} s '
            f'of healthy motion, expected at least {least:.3g} s: record the work of the robot '
            f'without contact for longer'
        )


def _motion(parts: Sequence[Session], period: float, options: Learning) -> RampLaw:
    """Return a law with the bands of the motion, and without learned torque errors."""
    used = [each.samples.velocity[each.used] for each in parts]
    speed = np.abs(np.concatenate(used)).astype(float)
    accelerations = [each.samples.acceleration[each.used] for each in parts]
    hard = np.abs(np.concatenate(accelerations)).astype(float)
    noise = [3.0 * white_noise(each) for each in used if len(each) > 3]
    tiny = np.full(speed.shape[1], np.finfo(np.float32).tiny)
    still = np.max([0.05 * np.quantile(speed, 0.95, axis=0), *noise, tiny], axis=0)
    moving = speed >= still
    bands = Bands(
        still, _edges(speed, moving, 3 if options.scales else 1),
        _edges(hard, moving, 2 if options.scales else 1),
    )  # fmt: skip
    width = len(still)
    return RampLaw(
        period, bands, np.maximum(speed.max(axis=0), tiny), np.maximum(hard.max(axis=0), tiny),
        mean=np.zeros((1 + KINDS * width, width)), whitening=np.zeros((width, 2, ORDER)),
        scale=np.ones((width, bands.cells, SCORES)),
        covariance=np.repeat(np.eye(width)[None], SCORES, axis=0),
    )  # fmt: skip


def _edges(values: Array, moving: Array, bands: int) -> Array:
    """Return the inner edges of bands with equal numbers of moving samples, (n, bands - 1)."""
    edges = np.zeros((values.shape[1], bands - 1))
    for joint, rows in enumerate(moving.T):
        if rows.any():
            levels = np.linspace(0.0, 1.0, bands + 1)[1:-1]
            edges[joint] = np.quantile(values[rows, joint], levels)
    return edges


def _law(
    parts: Sequence[Session], law: RampLaw, options: Learning
) -> tuple[RampLaw, list[RampLaw]]:
    """Return the law of all sessions, and for each session that of all others.

    Each step uses sums over sessions, so that leaving one out costs nothing.
    """
    laws = [law, *[law] * len(parts)]

    def step(
        name: str, sum_of: Callable[[Session, RampLaw], Sums], value: Callable[[Sums], Array]
    ) -> None:
        pairs = list(zip(parts, laws[1:], strict=True))
        sums = [sum_of(*pair) for pair in track(pairs, 'learning')]
        for k, each in enumerate(laws):
            changed: dict[str, Any] = {name: value(add_sums(sums, k - 1))}
            laws[k] = replace(each, **changed)

    prior = PRIOR if options.scales else 1e9
    spacing = law.stride * law.period

    def scale(sums: Sums) -> Array:
        return scales(sums, spacing, prior)

    if options.mean:
        sums = [regression_sums(part, law) for part in track(list(parts), 'learning')]
        penalty = _penalty(sums)
        laws = [replace(law, mean=ridge(add_sums(sums, k - 1), penalty)) for k in range(len(laws))]
    if options.whitening:
        step('scale', score_counts, scale)
        step('whitening', autocovariance, prediction)
    step('scale', score_counts, scale)
    step('covariance', covariance, _covariance)
    return laws[0], laws[1:]


def _penalty(sums: Sequence[Sums]) -> float:
    """Return the penalty with the smallest error of the sessions left out."""

    def error(penalty: float) -> float:
        left = [
            compute_squared_error(each, ridge(add_sums(sums, k), penalty))
            for k, each in enumerate(sums)
        ]
        total = sum(each.arrays[2] for each in sums)
        return float((sum(left) / np.maximum(total, np.finfo(float).tiny)).sum())

    return min(PENALTIES, key=error)


def _covariance(sums: Sums) -> Array:
    products, count = sums.arrays
    return np.asarray(products / np.maximum(count, 1.0) + 1e-3 * np.eye(products.shape[1]))


def _without_contact(
    parts: Sequence[Session], owners: Array, blocks: Sequence[Blocks], hours: float
) -> list[Session] | None:
    """Return the sessions without blocks that stand out as contact; None: there are none.

    They stand out of all sessions and of their session: contact is short, other work is not.

    :param owners: numbers of the sessions of the parts
    :param hours: of motion, before anything was left out
    """
    moving = [each.largest.max(axis=1)[each.moves] for each in blocks]
    usual = np.full(len(parts), np.median(np.concatenate(moving)))
    for owner in set(owners.tolist()):
        rows = np.flatnonzero(owners == owner)
        alone = np.concatenate([moving[k] for k in rows])
        if len(alone):
            usual[rows] = np.maximum(usual[rows], np.median(alone))
    reach = (OUTLIER * usual).tolist()
    cleaned = [_clean(*each) for each in zip(parts, blocks, reach, strict=True)]
    if all(each is part for each, part in zip(cleaned, parts, strict=True)):
        return None
    after = sum(each.hours for each in cleaned)
    if after < (1.0 - CONTACT) * hours:
        raise ControlError(
            f'{100.0 * (1.0 - after / hours):.0f} % of the recordings look like contact '
            f'(limit {100.0 * CONTACT:g} %): record healthy motion. '
            f'{next(each.notes[-1] for each in cleaned if each.notes)}'
        )
    return cleaned


def _clean(part: Session, blocks: Blocks, reach: float) -> Session:
    """Leave out blocks beyond `reach`, and one on either side."""
    largest = blocks.largest.max(axis=1)
    if not (largest > reach).any():
        return part
    number = ((part.time - part.time[0]) / BLOCK).astype(np.intp)
    rows = np.zeros(len(part.time), dtype=bool)
    for bad in blocks.number[largest > reach]:
        rows |= np.abs(number - bad) <= 1
    worst = int(largest.argmax())
    time = part.time[0] + BLOCK * blocks.number[worst]
    return part.without(
        rows,
        f'{part.source}: {rows.sum()} of {len(rows)} samples left out as contact: the torque '
        f'error at {time:.6g} to {time + BLOCK:.6g} s is {OUTLIER * largest[worst] / reach:.3g} '
        f'times the usual largest one of such a motion',
    )


def _finish(
    parts: Sequence[Session], law: RampLaw, blocks: Sequence[Blocks], friction: Array,
    options: Learning,
) -> Learned:  # fmt: skip
    """Set the thresholds for the wanted rate."""
    hours = tuple(each.hours for each in blocks)
    wanted = _rate(options.rate, sum(hours))
    upper = np.quantile(np.concatenate([each.largest[each.moves] for each in blocks]), 0.9, axis=0)
    maxima = [each.counting(upper) for each in blocks]
    tails = Tails(maxima, hours)
    level = tails.level(wanted)
    contact = tails.level(WARNINGS * wanted) / level
    single, joint = (level * upper).tolist()
    scale = law.scale.copy()
    still = law.bands.moving
    least = np.max([friction, *(RESTING * each.rest for each in blocks)], axis=0)
    scale[:, still, LEVEL] = np.maximum(scale[:, still, LEVEL], least / single)
    return Learned(
        replace(law, scale=scale, single=single, joint=joint), float(np.clip(contact, 0.7, 1.0)),
        wanted, hours, tuple(each / level for each in maxima),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )  # fmt: skip


def _rate(wanted: float | None, hours: float) -> float:
    """Return the wanted rate, or the usual one.

    :raises ControlError: the recordings are too short to have a single false alarm at this rate
    """
    least = 1.0 / hours
    if wanted is None:
        return max(USUAL, float(ceil(least)))
    if wanted < least:
        raise ControlError(
            f'{60.0 * hours:.3g} min of healthy motion cannot prove {wanted:g} false alarms per '
            f'hour: record {(1.0 / wanted - hours) * 60.0:.3g} min more, or ask for at least '
            f'{ceil(least)} per hour (--false-alarms {ceil(least)})'
        )
    return wanted
