# SPDX-License-Identifier: Apache-2.0
"""Least squares of the unknowns of a `SignalModel`, with the covariance of coloured noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from robodyn_ros.analysis.gains.signal_model import SignalModel
from robodyn_ros.errors import InsufficientData
from robodyn_ros.identification.factors.condense import Condensed, JointFactor
from robodyn_ros.identification.fit.least_squares import Estimate, estimate
from robodyn_ros.identification.fit.noise_spectrum import score_covariance
from robodyn_ros.models.interface import Array, Indices

ROUNDS = 2
"""Rounds of weights and values: weights differ from those of signals fitted alone by some
percent."""

EVALUATIONS, HELD = 1000, 1e-3
"""Most evaluations of a search, and weight of the start in it, in standard deviations: a factor
that nothing else determines moves to a thousand times its start and not on without end."""

ROUNDING = 1e-12
"""Length of a column, as a share of the longest, below which it is rounding errors."""

_NONE: Indices = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class SignalFit:
    """Estimated unknowns of a signal model.

    :param values: of all unknowns, known ones too, shape (size,)
    :param covariance: of all unknowns, shape (size, size); 0: known, NaN: not determined
    :param sigma: residual standard deviation per run and joint, in the unit of the signal
    :param misfit: RMS of the residual over that of the signal fitted alone, per joint, shape (n,)
    :param moved: distance of the values from the optimum, linearised, shape (size,)
    """

    values: Array
    covariance: Array
    sigma: Array
    moved: Array
    misfit: Array

    @property
    def stddevs(self) -> Array:
        """Standard deviations, with the distance from the optimum; NaN: not determined."""
        return np.sqrt(np.diag(self.covariance) + self.moved**2)


def fit_signals(
    model: SignalModel, runs: Sequence[Condensed], start: Array, free: Indices
) -> SignalFit:
    """Fit the unknowns at `free` to the signals of all joints and runs.

    :param start: values of all unknowns, shape (size,)
    :raises InsufficientData: no samples
    """
    values = search_values(model, runs, start, free)
    factors = _linearise(model, runs, values, free)
    fit = estimate(factors, len(free))
    fit = estimate(factors, len(free), scores=_scores(model, runs, values, free, fit))
    covariance = np.zeros((len(values), len(values)))
    covariance[np.ix_(free, free)] = fit.covariance
    moved = np.zeros(len(values))
    moved[free] = fit.values
    misfit = _residuals(model, runs, values) / _apart(runs)
    sigma, misfit = (each.reshape(len(runs), -1) for each in (fit.sigma, misfit))
    return SignalFit(values, covariance, sigma, moved, misfit.max(axis=0))


def search_values(
    model: SignalModel,
    runs: Sequence[Condensed],
    start: Array,
    free: Indices,
    starts: Sequence[Array] = (),
) -> Array:
    """Return the values of all unknowns, those at `free` fitted.

    :param starts: other starting values: a search crosses no zero of a factor
    """
    sigma = _apart(runs)
    values, cost = _search(model, runs, start, free, sigma)
    for each in starts:
        other, error = _search(model, runs, each, free, sigma)
        if error < cost:
            values, cost = other, error
    for _ in range(ROUNDS):
        sigma = _residuals(model, runs, values)
        values, _ = _search(model, runs, values, free, sigma)
    return values


def _residuals(model: SignalModel, runs: Sequence[Condensed], values: Array) -> Array:
    """Return the RMS residual of each signal, not below rounding."""
    parts = _factors(model, runs, values, _NONE)
    left = np.array([np.linalg.norm(part.triangle) for part in parts]) / _sizes(runs)
    return np.asarray(np.maximum(left, 1e-9 * max(left.max(), 1e-300)))


def _apart(runs: Sequence[Condensed]) -> Array:
    """Return the residual standard deviation of each signal, fitted alone."""
    ends = np.array([abs(factor.triangle[-1, -1]) for run in runs for factor in run.factors])
    left = ends / _sizes(runs)
    return np.asarray(np.maximum(left, 1e-9 * max(left.max(), 1e-300)))


def _sizes(runs: Sequence[Condensed]) -> Array:
    return np.sqrt([max(factor.samples, 1) for run in runs for factor in run.factors])


def _search(
    model: SignalModel, runs: Sequence[Condensed], start: Array, free: Indices, sigma: Array
) -> tuple[Array, float]:
    """Return the values of the smallest squared residual, and that, by variable projection.

    All unknowns but the factors are linear for given factors: least squares replace them, and
    what remains is a search over at most n numbers (Golub and Pereyra, 1973).

    :param sigma: standard deviation that weighs each joint of each run
    """
    factors, linear = free[free < model.joints], free[free >= model.joints]
    prior = np.column_stack([np.diag(1.0 / _spreads(model, linear)), np.zeros(len(linear))])

    def solve(given: Array) -> tuple[Array, Array]:
        values = start.copy()
        values[factors], values[linear] = given, 0.0
        parts = _factors(model, runs, values, linear)
        rows = [part.triangle / size for part, size in zip(parts, sigma, strict=True)]
        stacked = np.vstack([*rows, prior])
        length = np.linalg.norm(stacked[:, :-1], axis=0)
        length[length <= ROUNDING * length.max()] = 1.0  # of joints at rest
        scaled = stacked[:, :-1] / length
        solution = np.linalg.lstsq(scaled, stacked[:, -1], rcond=1e-9)[0]
        values[linear] = solution / length
        return values, stacked[:, -1] - scaled @ solution

    first = start[factors]
    if not len(first):
        values, left = solve(first)
        return values, float(left @ left)
    size = np.where(first != 0.0, np.abs(first), 1.0)

    def rest(given: Array) -> Array:
        return np.append(solve(given)[1], HELD * (given - first) / size)

    reached = least_squares(rest, first, x_scale=size, method='lm', max_nfev=EVALUATIONS)
    values, left = solve(reached.x)
    return values, float(left @ left)


def _linearise(
    model: SignalModel, runs: Sequence[Condensed], values: Array, free: Indices
) -> list[JointFactor]:
    """Return the factors of all runs and joints, with what is known of the load before."""
    factors = _factors(model, runs, values, free)
    first, size = _carrier(model, runs, values)
    weights = size / _spreads(model, free)
    rows = np.column_stack([np.diag(weights), -weights * values[free]])[weights > 0.0]
    triangle = np.vstack([factors[first].triangle, rows])
    factors[first] = replace(factors[first], triangle=triangle)
    return factors


def _factors(
    model: SignalModel, runs: Sequence[Condensed], values: Array, free: Indices
) -> list[JointFactor]:
    """Return the factors of all runs and joints."""
    parts = (model.linearise(run, arm, values, free) for run, arm in enumerate(runs))
    return [factor for part in parts for factor in part]


def _carrier(model: SignalModel, runs: Sequence[Condensed], values: Array) -> tuple[int, float]:
    """Return the first joint with samples, and the RMS of its residual.

    What is known before is stated as rows of this joint: an error of one standard deviation is as
    large as this RMS, so that the row has the weight that it should.
    """
    for number, factor in enumerate(_factors(model, runs, values, _NONE)):
        if factor.samples:
            return number, float(np.linalg.norm(factor.triangle)) / np.sqrt(factor.samples)
    raise InsufficientData('no joint has a moving sample to estimate factors from')


def _spreads(model: SignalModel, free: Indices) -> Array:
    spread = np.full(model.size, np.inf)
    spread[model.load] = model.spread
    return spread[free]


def _scores(
    model: SignalModel, runs: Sequence[Condensed], values: Array, free: Indices, fit: Estimate
) -> Array:
    """Return the covariance of the scores, which are independent between runs."""
    count = model.joints
    scores = np.zeros((len(runs) * count,) * 2 + (len(free),) * 2)
    for run, arm in enumerate(runs):
        place = slice(run * count, (run + 1) * count)
        rows = model.linear_rows(run, arm, values, free)
        scores[place, place] = score_covariance(rows, replace(fit, sigma=fit.sigma[place]))
    first, size = _carrier(model, runs, values)
    scores[first, first] += np.diag((size / _spreads(model, free)) ** 2)
    return scores
