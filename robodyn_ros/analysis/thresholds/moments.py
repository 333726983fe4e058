# SPDX-License-Identifier: Apache-2.0
"""Sums over a session from which a ramp law is learned; sums of sessions add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_toeplitz

from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.motion_bands import RESTED
from robodyn_ros.control.collision.ramp_law import (
    KINDS,
    LEVEL,
    ORDER,
    SCORES,
    RampLaw,
    RampScores,
    pieces,
)
from robodyn_ros.models.interface import Array

CHUNK = 4000
"""Rows at a time, which bounds the memory."""
BINS, OCTAVES = 16, 40
"""Bins of a score per factor of 2, and octaves on either side of 1."""
LEAST = 1.0
"""Smallest sum of squares at rest relative to the scale, in [s], to learn whitening at rest from:
about 10 s of rest."""
PRIOR = 5.0
"""Time in a cell at which its scale is halfway between its each and that of the joint, in [s]."""
HIGH = 0.999
"""Quantile of a score that is its usual largest value."""


def chunks(session: Session, law: RampLaw) -> Iterator[tuple[RampScores, slice]]:
    """Yield the scores of a session, some rows at a time: those that count, without gaps."""
    scores = RampScores(law)
    edges = np.flatnonzero(session.started).tolist()
    for first, last in zip(edges, [*edges[1:], len(session.time)], strict=True):
        scores.restart(float(session.time[first]))
        settled = np.flatnonzero(session.settled[first:last])
        if not len(settled):
            continue
        begin = first + int(settled[0])
        scores.settle(session.samples.rows(slice(first, max(begin, first + 1))))
        begin = max(begin, first + 1)
        taken = session.samples.rows(slice(begin, last))
        for start, end in pairwise(pieces(taken.time, taken.rests)):
            for row in range(start, end, CHUNK):
                rows = slice(row, min(row + CHUNK, end))
                scores.take(taken.rows(rows))
                yield scores, slice(begin + rows.start, begin + rows.stop)


@dataclass
class Sums:
    """Sums that add over sessions: arrays as a tuple."""

    arrays: tuple[Array, ...]

    def __add__(self, other: Sums) -> Sums:
        return Sums(tuple(a + b for a, b in zip(self.arrays, other.arrays, strict=True)))


def regression_sums(session: Session, law: RampLaw) -> Sums:
    """Return the sums of squares of features and torque errors, in [s]."""
    width = len(law.fastest)
    size = 1 + KINDS * width
    squares, products, power = np.zeros((size, size)), np.zeros((size, width)), np.zeros(width)
    for row in range(0, len(session.time), CHUNK):
        rows = slice(row, row + CHUNK)
        used = session.used[rows]
        samples = session.samples.rows(rows)
        features, error = law.features(samples)[used], samples.error[used].astype(float)
        squares += features.T @ features
        products += features.T @ error
        power += (error**2).sum(axis=0)
    return Sums((law.period * squares, law.period * products, law.period * power))


def ridge(sums: Sums, penalty: float) -> Array:
    """Return the coefficients of the conditional mean, shape (F, n).

    :param penalty: of standardised coefficients, in [s]
    """
    squares, products, _ = sums.arrays
    size = np.sqrt(np.maximum(np.diag(squares) / squares[0, 0], 1e-30))
    scaled = squares / np.outer(size, size) + penalty * np.eye(len(size))
    return np.asarray(np.linalg.solve(scaled, products / size[:, None]) / size[:, None])


def compute_squared_error(sums: Sums, mean: Array) -> Array:
    """Return the sum of squares that a conditional mean leaves, shape (n,)."""
    squares, products, power = sums.arrays
    return np.asarray(
        power - 2.0 * (mean * products).sum(axis=0) + (mean * (squares @ mean)).sum(axis=0)
    )


def autocovariance(session: Session, law: RampLaw) -> Sums:
    """Return the sums of lagged products of the torque error without its mean, in [s].

    Cells in which friction turns or gears settle are left out: their large short errors would be
    taken for the spectrum of all motion.

    :return: relative to the scale, in motion and at rest, shape (2, ORDER + 1, n)
    """
    sums = np.zeros((2, ORDER + 1, len(law.fastest)))
    for scores, rows in chunks(session, law):
        used = session.used[rows][:, None] & law.bands.steady[scores.cell]
        error, back = scores.error / scores.scale[..., LEVEL], law.stride
        kind = int(session.samples.rests[rows][0])
        for lag in range(ORDER + 1):
            end = len(error) - lag * back
            if end > 0:
                both = used[:end] & used[lag * back :]
                sums[kind, lag] += (both * error[:end] * error[lag * back :]).sum(axis=0)
    return Sums((law.period * sums,))


def prediction(sums: Sums) -> Array:
    """Return the coefficients of the linear prediction, shape (n, 2, ORDER) (Yule and Walker)."""
    motion, rest = sums.arrays[0]
    few = rest[0].max() < LEAST
    return np.stack([_predict(motion), _predict(motion if few else rest)], axis=1)


def _predict(products: Array) -> Array:
    result = np.zeros((products.shape[1], ORDER))
    for joint, column in enumerate(products.T):
        if column[0] > 0.0:
            column = column / column[0]
            column[0] += 1e-4
            result[joint] = solve_toeplitz(column[:ORDER], column[1:])
    return result


def score_counts(session: Session, law: RampLaw) -> Sums:
    """Return counts of the scores by size, (n, cells, SCORES, bins), and their products."""
    width, cells, bins = len(law.fastest), law.bands.cells, 2 * OCTAVES * BINS
    counts = np.zeros(width * cells * SCORES * bins, dtype=np.int64)
    for scores, rows in chunks(session, law):
        kept = np.flatnonzero(session.used[rows])[:: law.stride]
        size = np.abs(scores.scores[kept]) + 1e-300
        bin_ = np.clip(BINS * (np.log2(size) + OCTAVES), 0, bins - 1).astype(np.intp)
        place = np.arange(width) * cells + scores.cell[kept]
        index = (place[..., None] * SCORES + np.arange(SCORES)) * bins + bin_
        counts += np.bincount(index.ravel(), minlength=len(counts))
    return Sums((counts.reshape(width, cells, SCORES, bins).astype(np.int32),))


def scales(sums: Sums, spacing: float, prior: float) -> Array:
    """Return the usual largest size of each score, shape (n, cells, SCORES).

    It is an upper quantile; its logarithm is shrunk to that of all cells by the time in the cell.
    Rest that was not learned is standstill.
    """
    counts = sums.arrays[0]

    def quantile(counts: Array) -> Array:
        total = counts.cumsum(axis=-1)
        place = (total < HIGH * total[..., -1:]).sum(axis=-1)
        return np.asarray((place + 1.0) / BINS - OCTAVES)

    each, usual = quantile(counts), quantile(counts.sum(axis=1))[:, None]
    seconds = spacing * counts.sum(axis=-1)
    value = (seconds * np.where(seconds > 0.0, each, 0.0) + prior * usual) / (seconds + prior)
    still = -2 - len(RESTED)
    rests = seconds[:, still + 1 :] > 0.0
    value[:, still + 1 :] = np.where(rests, value[:, still + 1 :], value[:, still, None])
    return np.asarray(np.exp2(value))


def covariance(session: Session, law: RampLaw) -> Sums:
    """Return the sums of products of scaled scores over joints, shape (SCORES, n, n)."""
    width = len(law.fastest)
    sums = np.zeros((SCORES, width, width))
    count = 0
    for scores, rows in chunks(session, law):
        kept = np.flatnonzero(session.used[rows])[:: law.stride]
        scaled = (scores.scores / scores.scale)[kept].transpose(2, 1, 0)
        sums += scaled @ scaled.transpose(0, 2, 1)
        count += len(kept)
    return Sums((sums, np.array(float(count))))


@dataclass(frozen=True)
class Blocks:
    """Blocks of a session with samples that count.

    :param number: of each block, shape (blocks,)
    :param largest: ratios of single joints and of all joints together, shape (blocks, 2)
    :param moves: a joint moved, shape (blocks,)
    :param hours: of the blocks in which a joint moved, in [h]
    :param rest: largest torque error at rest, shape (n,), in [Nm] or [N]
    """

    number: NDArray[np.intp]
    largest: Array
    moves: NDArray[np.bool_]
    hours: float
    rest: Array

    def counting(self, upper: Array) -> Array:
        """Return the larger one of both ratios to `upper`, (2,), of the blocks that count.

        A pause proves nothing about motion, but its false alarms count.
        """
        largest = (self.largest / upper).max(axis=1)
        usual = np.quantile(largest[self.moves], 0.75) if self.moves.any() else 0.0
        return np.asarray(largest[self.moves | (largest > usual)])


def blocks_of(session: Session, law: RampLaw, length: float) -> Blocks:
    """Return the largest ratios of a session in blocks of some length, in [s]."""
    block = ((session.time - session.time[0]) / length).astype(np.intp)
    count = int(block[-1]) + 1
    largest, moved = np.full((count, 2), -np.inf), np.zeros(count, dtype=bool)
    rest = np.zeros(len(law.fastest))
    for scores, rows in chunks(session, law):
        single, joint = scores.ratios()
        used = session.used[rows]
        rests, level = scores.level_at_rest()
        np.maximum(rest, np.abs(level[used & rests]).max(axis=0, initial=0.0), out=rest)
        values = np.stack([single.max(axis=1), joint], axis=1)[used]
        np.maximum.at(largest, block[rows][used], values)
        faster = (np.abs(session.samples.velocity[rows]) >= law.bands.still).any(axis=1)
        moved[block[rows][used & faster]] = True
    number = np.flatnonzero(np.isfinite(largest[:, 0]))
    hours = law.period * (session.used & moved[block]).sum() / 3600.0
    return Blocks(number, largest[number], moved[number], float(hours), rest)


def add_sums(sums: Sequence[Sums], without: int = -1) -> Sums:
    """Return the sum over sessions, except one."""
    kept = [each for k, each in enumerate(sums) if k != without]
    total = kept[0]
    for each in kept[1:]:
        total = total + each
    return total
