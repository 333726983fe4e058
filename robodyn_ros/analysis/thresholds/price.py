# SPDX-License-Identifier: Apache-2.0
"""Price of a rate of false alarms: the smallest force that is found, and its delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.analysis.thresholds.learn import Learned
from robodyn_ros.analysis.thresholds.moments import chunks
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.contact_watch import geometry
from robodyn_ros.control.collision.ramp_law import RampLaw, ramp_gains, ramp_taps
from robodyn_ros.models.interface import Array, DynamicModel

RISE, SOON = 0.05, 0.1
"""Duration of the ramp of the force, and time within which it has to be found, in [s]."""
POSES = 200
"""Positions of the recordings, each with a direction of the force."""


@dataclass(frozen=True)
class Price:
    """Price of a rate.

    :param rate: false alarms per hour
    :param minutes: missing minutes of motion to show this rate; 0: none
    :param delay: median time until twice the force is found, in [s]; NaN: not known
    :param force: at the last link, found within `SOON` in 90 % of positions and directions, in
        [N]; NaN: the model has no links
    """

    rate: float
    minutes: float
    delay: float
    force: float

    def describe(self) -> str:
        """Return one line."""
        if self.minutes:
            missing = f'{self.minutes:.3g} more minutes'
            if self.minutes > 90.0:
                missing = f'{self.minutes / 60.0:.3g} more hours'
            return f'{self.rate:g} per hour needs {missing} of motion'
        if np.isnan(self.force):
            return f'{self.rate:g} per hour: the model has no links, so no force'
        return (
            f'{self.rate:g} per hour: {self.force:.3g} N at the flange in {1e3 * SOON:.0f} ms, '
            f'twice that in {1e3 * self.delay:.0f} ms'
        )


def prices(
    learned: Learned, model: DynamicModel, sessions: Sequence[Session], rates: Sequence[float]
) -> list[Price]:
    """Return the prices of the learned rate and of others, highest rate first."""
    hours = sum(learned.hours)
    force, delay = _force(learned.law, model, sessions)
    result = []
    for rate in sorted({learned.wanted, *rates}, reverse=True):
        missing = 60.0 * (1.0 / rate - hours)
        if missing > 0.0:
            result.append(Price(rate, missing, float('nan'), float('nan')))
            continue
        level = 1.0 if rate == learned.wanted else learned.level(rate)
        result.append(Price(rate, 0.0, delay, level * force))
    return result


def smallest_ramps(law: RampLaw) -> Array:
    """Return the smallest ramp that a joint alone finds in its most frequent motion, (n,)."""
    taps = ramp_taps(law.whitening[:, 0], law.stride * law.period)
    gain = ramp_gains(taps, law.stride * law.period)
    ramps = (law.scale / gain[:, None])[:, : law.bands.moving].min(axis=2)
    return np.asarray(law.single * np.median(ramps, axis=1))


def _force(law: RampLaw, model: DynamicModel, sessions: Sequence[Session]) -> tuple[float, float]:
    """Return the smallest force, in [N], and the delay of twice that, in [s]."""
    links, _ = geometry(model, '')
    if links is None:
        return float('nan'), float('nan')
    spacing = law.stride * law.period
    course = _course(law, spacing)
    random, inverse = np.random.default_rng(1), np.linalg.inv(law.covariance)
    size = []
    for position, scale in _motions(law, sessions, random):
        way = random.normal(size=3)
        torque = (way / np.linalg.norm(way)) @ links.at(position).tool[:3]
        scaled = course * (torque[:, None] / scale)
        single = np.abs(scaled).max(axis=(1, 2)) / law.single
        square = np.einsum('tjk,kji,tik->tk', scaled, inverse, scaled).max(axis=1)
        size.append(np.maximum(single, np.sqrt(square) / law.joint))
    growing = np.maximum.accumulate(np.array(size), axis=1)
    force = float(np.quantile(1.0 / growing[:, round(SOON / spacing) - 1], 0.9))
    over = 2.0 * force * growing > 1.0
    delay = np.where(over.any(axis=1), spacing * (over.argmax(axis=1) + 1), np.inf)
    return force, float(np.median(delay))


def _course(law: RampLaw, spacing: float) -> Array:
    """Return the scores after the start of a ramp to 1 Nm, shape (T, n, SCORES)."""
    taps = ramp_taps(law.whitening[:, 0], spacing)
    count = taps.shape[1]
    ramp = np.minimum(spacing * np.arange(1, count + 1) / RISE, 1.0)
    series = np.concatenate([np.zeros(count - 1), ramp])
    windows = np.lib.stride_tricks.sliding_window_view(series, count)
    return np.asarray(np.einsum('ts,nsk->tnk', windows, taps))


def _motions(
    law: RampLaw, sessions: Sequence[Session], random: np.random.Generator
) -> list[tuple[Array, Array]]:
    """Return positions (n,) and the scales there (n, SCORES) while the robot moves."""
    motions: list[tuple[Array, Array]] = []
    share = POSES / max(1, sum(int(each.used.sum()) for each in sessions))
    for session in sessions:
        for scores, rows in chunks(session, law):
            moving = (scores.cell < law.bands.moving).any(axis=1) & session.used[rows]
            chosen = np.flatnonzero(moving & (random.random(len(moving)) < share))
            position = session.samples.position[rows]
            motions += [(position[k].astype(float), scores.scale[k].copy()) for k in chosen]
    return motions
