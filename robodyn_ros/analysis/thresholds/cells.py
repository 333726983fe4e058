# SPDX-License-Identifier: Apache-2.0
"""Cells of a threshold map from the distribution of the recordings, and their largest errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.threshold_map import Bands
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.signals import white_noise

Layout = tuple[int, int, int]
"""Number of bands of speed, acceleration and time since reversal."""


def still_speed(sessions: Sequence[Session], *, share: float = 0.05) -> Array:
    """Return the speed of standstill: a share of the joint's high speeds, above its noise.

    :param share: of the 95 % quantile of the speed, 0..1
    :return: shape (n,), in [rad/s] or [m/s], above 0
    """
    used = [each.velocity[each.used] for each in sessions]
    speed = np.abs(np.concatenate(used))
    noise = [white_noise(each) for each in used if len(each) > 3]
    high: Array = share * np.quantile(speed, 0.95, axis=0)
    still: Array = np.max([high, *(3.0 * each for each in noise)], axis=0)
    bounded: Array = np.maximum(still.astype(float), np.finfo(np.float32).tiny)
    return bounded


def bands_of(sessions: Sequence[Session], still: Array, layout: Layout) -> Bands:
    """Return bands with equal numbers of moving samples of each joint.

    Bands of time since reversal are narrower at its start.
    """
    edges = [np.zeros((len(still), bands - 1)) for bands in layout]
    levels = [np.linspace(0.0, 1.0, bands + 1)[1:-1] for bands in layout]
    levels[2] = levels[2] ** 2
    motions = [each.motion(still) for each in sessions]
    for joint in range(len(still)):
        moving = [
            (motion[0][:, joint] >= still[joint]) & each.used
            for motion, each in zip(motions, sessions, strict=True)
        ]
        if not any(rows.any() for rows in moving):
            continue  # all bands are empty: the joint rests
        for kind in range(3):
            chosen = [m[kind][rows, joint] for m, rows in zip(motions, moving, strict=True)]
            edges[kind][joint] = np.quantile(np.concatenate(chosen), levels[kind])
    speed, acceleration, reversal = edges
    return Bands(still, speed, acceleration, reversal)


@dataclass(frozen=True)
class CellMaxima:
    """Largest torque errors of one session.

    :param cell: cell of each sample, shape (N, n)
    :param largest: shape (blocks, n, cells + 1), in [Nm] or [N]; NaN: not visited. The last one is
        the change of the torque error while the reference rests
    :param block: block of each sample, shape (N,)
    """

    cell: NDArray[np.int16]
    largest: Array
    block: NDArray[np.intp]


def cell_maxima(session: Session, bands: Bands, *, length: float) -> CellMaxima:
    """Return the largest torque errors of a session; `length` of the blocks in [s]."""
    block = ((session.time - session.time[0]) / length).astype(np.intp)
    cell = bands.cell(*session.motion(bands.still)).astype(np.int16)
    joints = np.arange(cell.shape[1])
    largest = np.full((int(block[-1]) + 1, len(joints), bands.cells + 1), -np.inf)
    rows = session.used
    np.maximum.at(largest, (block[rows, None], joints, cell[rows]), session.residual[rows])
    if session.change is not None:
        np.fmax.at(largest[..., -1], (block[rows, None], joints), session.change[rows])
    return CellMaxima(cell, np.where(np.isinf(largest), np.nan, largest), block)


def upper(
    largest: Array, *, share: float = 0.9, least: int = 5
) -> tuple[Array, NDArray[np.bool_]]:
    """Return an upper quantile of the block maxima, and the cells that it rests on.

    A cell that was visited in too few blocks gets the largest torque error of its joint.

    :param largest: of one or more sessions, as of `CellMaxima`
    :param share: quantile, 0..1
    :return: shape (n, cells + 1), in [Nm] or [N], and bool of the same shape
    """
    visited = np.isfinite(largest).sum(axis=0) >= least
    with np.errstate(all='ignore'):
        ordered = np.sort(np.where(np.isnan(largest), -np.inf, largest), axis=0)
        count = np.isfinite(largest).sum(axis=0)
        # The order statistic at or above the quantile of the visited blocks.
        rank = len(largest) - 1 - np.floor((1.0 - share) * np.maximum(count - 1, 0)).astype(int)
        value = np.take_along_axis(ordered, rank[None], axis=0)[0]
    most = np.max(np.where(np.isfinite(largest), largest, 0.0)[..., :-1], axis=(0, 2))
    quantile: Array = np.where(visited, value, most[:, None])
    # A torque error of exactly zero would make a threshold that anything exceeds.
    return np.maximum(quantile, np.finfo(np.float32).tiny), visited


def level_at(maxima: Array, hours: float, rate: float) -> float:
    """Return the level that is exceeded `rate` times per hour.

    If the blocks were exceeded at least once at this rate, it is an order statistic. Beyond the
    largest value, the excesses over a high level are taken as exponential, the limit of light
    tails (Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapter 4).
    That level is exceeded by a tenth of the blocks, at least by 5 of them.

    :param maxima: largest value of each block, shape (blocks,)
    :param hours: time of the blocks together, in [h]
    :param rate: in [1/h]
    """
    ordered = np.sort(maxima)[::-1]
    if (allowed := int(rate * hours)) >= 1:
        return float(ordered[min(allowed, len(ordered) - 1)])
    count = min(max(5, len(ordered) // 10), len(ordered) - 1)
    largest = float(ordered[0])
    if count < 1:
        return largest
    base = float(ordered[count])
    excess = float(np.mean(ordered[:count] - base))
    return max(largest, base + excess * max(0.0, float(np.log(count / (rate * hours)))))


def rate_bound(alarms: int, hours: float) -> float:
    """Return the rate that is not exceeded with 95 % confidence, in [1/h]: 3 / T for no alarm.

    Alarms are a Poisson process (Garwood, "Fiducial Limits for the Poisson Distribution", 1936).
    """
    return float(gammaincinv(alarms + 1, 0.95) / hours)
