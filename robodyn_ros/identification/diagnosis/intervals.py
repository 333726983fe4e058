# SPDX-License-Identifier: Apache-2.0
"""Flaws of a part of the recording: stuck torque, drives off, contact, a delay that changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robodyn_ros.excitation.cycles import CYCLES, cycles
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import COMPARED, Case, Sample, thinned
from robodyn_ros.identification.diagnosis.trial import (
    Trial,
    fitted_to,
    folds,
    gram_of,
    relative_error,
    squared_error,
)
from robodyn_ros.identification.factors.joint_fit import own_fit
from robodyn_ros.identification.factors.shift_search import smoothed
from robodyn_ros.identification.fit.choice import FOUR, MOST
from robodyn_ros.identification.fit.folds import labels_of
from robodyn_ros.identification.fit.time_offset import OffsetTrial
from robodyn_ros.identification.signals.processed import Mask, Processed
from robodyn_ros.models.interface import Array, DynamicModel, Indices


def stuck_findings(case: Case) -> Iterator[Finding]:
    """Name joints whose torque does not change while they go there and back.

    Friction changes its sign when a joint turns round, so that no torque is constant there. A
    torque that is cut off at a limit is constant for less than a stroke and back.
    """
    signals = case.signals
    for joint, name in enumerate(signals.joints):
        if not signals.used[:, joint].any():
            continue
        first, last = _longest_constant(signals.measured[:, joint])
        part = signals.position[first:last, joint]
        back = np.abs(np.diff(part)).sum() - abs(part[-1] - part[0])
        if back > 1.5 * np.ptp(signals.position[:, joint]):
            start, end = signals.time[[first, last - 1]]
            torque = signals.measured[first, joint]
            yield finding('stuck_torque', joint=name, torque=torque, start=start, end=end)


def _longest_constant(values: Array) -> tuple[int, int]:
    """Return the first and last (exclusive) of the most samples in a row with the same value."""
    edges = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1, [len(values)]])
    longest = int(np.argmax(np.diff(edges)))
    return int(edges[longest]), int(edges[longest + 1])


def interval_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Name the intervals without which the model fits the remaining samples clearly better.

    The worst interval is left out first, then the next one too, until the others are explained.
    """
    trial = Trial.of(case, sample)
    squares, intervals = _squares(trial, trial.fitted()[0]), list[Mask]()
    for interval in _worst_intervals(_squares(trial, _typical(trial))):
        intervals.append(interval)
        inside = np.any(intervals, axis=0)
        remaining = replace(trial, weight=trial.weight * ~inside[:, None])
        present = float(squares[~inside].sum())
        corrected = remaining.held_out(folds(trial)).mean
        share = relative_error(present, corrected, int(np.count_nonzero(remaining.weight)))
        if share <= MOST:
            break
    else:
        return
    time = case.signals.time[thinned(sample.rows)]
    where, reason = _described(trial.torque, time, intervals)
    yield finding('disturbed_interval', where=where, reason=reason, share=share)


def validation_findings(
    model: DynamicModel, values: Array, signals: Processed, source: str
) -> Iterator[Finding]:
    """Name the intervals that most of the error on a validation comes from.

    Their error must differ from that of the other blocks significantly: a model that lacks
    something has errors of different size all over the recording.

    :param values: parameter values that the validation tests, shape (p,)
    """
    rows = np.linspace(0, len(signals) - 1, min(COMPARED, len(signals))).astype(np.intp)
    trial = Trial.taken(model, signals.to_estimate(), rows)
    squares, intervals = _squares(trial, values), list[Mask]()
    for interval in _worst_intervals(squares):
        if not _is_exceptional(squares, interval):
            break
        intervals.append(interval)
    if not intervals:
        return
    inside = np.any(intervals, axis=0)
    whole, others = float(squares.sum()), float(squares[~inside].sum())
    if relative_error(whole, others, int(np.count_nonzero(trial.weight))) > MOST:
        return
    share = others / max(whole, 1e-300)
    where, reason = _described(trial.torque, signals.time[rows], intervals)
    yield finding('disturbed_validation', source=source, where=where, reason=reason, share=share)


def _described(torque: Array, time: Array, intervals: Sequence[Mask]) -> tuple[str, str]:
    """Return start and end of intervals, and what may have happened there, in words.

    :param torque: shape (M, n)
    :param time: of the same samples, shape (M,), in [s]
    """
    size = np.abs(torque)
    usual = np.median(size[~np.any(intervals, axis=0)])
    where, reasons = [], []
    for interval in sorted(intervals, key=lambda each: int(np.argmax(each))):
        start, end = time[interval][[0, -1]]
        where.append(f'from {start:.3f} s to {end:.3f} s')
        off = np.median(size[interval]) < 0.1 * usual
        reasons.append('the drives were off' if off else 'contact, another load or a fault')
    return ' and '.join(where), ' and '.join(dict.fromkeys(reasons))


def _blocks(count: int, parts: int = 40) -> Indices:
    """Return the number of the block of each sample (M,); a disturbance lasts for some blocks."""
    return np.arange(count) * parts // count


def _squares(trial: Trial, values: Array) -> Array:
    """Return the squared errors of the samples with some values, shape (M,)."""
    rows = trial.rows
    return np.asarray(np.sum((rows[:, :, :-1] @ values - rows[:, :, -1]) ** 2, axis=1))


def _typical(trial: Trial) -> Array:
    """Return values (p,) that suit most blocks: their sum of errors, not of squares, is smallest.

    Least squares would spread the error of a disturbance over the other blocks (iteratively
    reweighted least squares of groups).
    """
    block = _blocks(len(trial.rows))
    grams = np.array([gram_of(trial.rows[block == number]) for number in np.unique(block)])
    values = fitted_to(grams.sum(axis=0))
    for _ in range(10):
        errors = np.sqrt([squared_error(gram, values) for gram in grams])
        weights = 1.0 / np.maximum(errors, 0.1 * np.median(errors) + 1e-300)
        values = fitted_to(np.tensordot(weights, grams, 1))
    return values


def _is_exceptional(squares: Array, interval: Mask) -> bool:
    """Return True if the error of an interval is far above the scatter of all blocks.

    Compared are logarithms of mean squared errors, with the median of the blocks and the standard
    deviation from the median of their distances from it.
    """
    block = _blocks(len(squares))
    tiny = np.finfo(float).tiny
    mean = np.bincount(block, squares) / np.maximum(np.bincount(block), 1)
    size = np.log(np.maximum(mean[mean > 0.0], tiny))
    middle = np.median(size)
    spread = np.median(np.abs(size - middle)) / 0.6745
    return bool(np.log(max(squares[interval].mean(), tiny)) > middle + FOUR * spread)


def _worst_intervals(squares: Array) -> Iterator[Mask]:
    """Yield which samples (M,) lie in the intervals with the largest excess, the worst first.

    An interval is blocks in a row with a mean squared error above twice the median. Together they
    are at most a third of the samples: more are not the exception.
    """
    block = _blocks(len(squares))
    mean = np.bincount(block, squares) / np.maximum(np.bincount(block), 1)
    excess = mean - 2.0 * np.median(mean)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], excess > 0.0, [False]])))
    runs = sorted(edges.reshape(-1, 2).tolist(), key=lambda run: -excess[slice(*run)].sum())
    total = 0
    for start, end in runs:
        total += end - start
        if total > len(mean) / 3:
            return
        yield np.asarray((block >= start) & (block < end))


def half_delay_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Name joints whose torque is late in one half of the recording and not in the other."""
    reach = min(50, len(case.signals) // 8)  # samples
    ends = (sample.rows >= reach) & (sample.rows < len(case.signals) - reach)
    done = cycles(case.signals.position[:: max(1, len(case.signals) // len(sample.rows))])
    for joint, fitted in sample.fits():
        if done[joint] < CYCLES:  # a half determines nothing
            continue
        torque = smoothed(case.signals.torque[:, joint])
        found = []
        for part in np.array_split(np.flatnonzero(ends), 2):
            rows, used = sample.rows[part], case.signals.used[sample.rows[part], joint]
            fit = own_fit(sample.regressor[part, joint], fitted.columns, torque[rows], used)
            if fit is None:
                break
            trial = OffsetTrial(
                fit, labels_of(case.signals.position[rows]), torque, rows[fit.rows]
            )
            shift = trial.best(reach) or 0.0
            found.append((shift, trial))
        if len(found) < 2 or abs(found[0][0] - found[1][0]) < 2.0:
            continue  # each is known to a sample
        shifts = [shift for shift, _ in found]
        others = zip(found, shifts[::-1], strict=True)
        gains = [trial.gain(own, FOUR, over=other) or 0.0 for (own, trial), other in others]
        if min(gains) > 0.0 and max(gains) >= 1.0 - MOST:
            name = case.signals.joints[joint]
            first, second = (round(shift) / case.rate * 1e3 for shift in shifts)
            yield finding('delay_changes', joint=name, first=first, second=second)
