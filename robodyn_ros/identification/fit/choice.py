# SPDX-License-Identifier: Apache-2.0
"""Choice between candidates by their errors on folds that were left out of the fit.

A richer candidate (more parameters, or a weaker prior) is taken only if its held-out error is
lower than that of the simpler one by more than one standard error of the paired difference
(Breiman et al., "Classification and Regression Trees", 1984, section 3.4.3). Motions repeat, so
the samples are divided twice: into blocks of time and into regions of the workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.interface import Array

ONE = 1.0
"""Standard errors by which a richer candidate must be better, where both are of the same kind."""

FOUR = 4.0
"""Standard errors for a candidate that other motions can turn against the user: a time offset, or
an estimate that no robot can have. The chance of taking it by mistake is below 1e-4."""

INDEPENDENT = 2.0
"""Independent samples per unknown from which on folds decide: as many to test as to fit."""

RELEVANT = 0.02
"""Share of the squared error that a gain must be where a candidate adds parameters: 1 % of the RMS
error. Less than that no user notices, however significant it is in a long recording."""

MOST = 0.5
"""Share of the squared held-out error that another explanation leaves at most for a flaw to be
reported: a smaller gain may as well be friction or flexibility that the model lacks."""


@dataclass(frozen=True)
class HeldOut:
    """Squared errors of a candidate on folds that were left out of its fit.

    :param kinds: for each way to divide the samples, the sum of the squared errors of every fold
    :param samples: number of samples of every fold, likewise
    """

    kinds: tuple[Array, ...]
    samples: tuple[Array, ...]
    independent: float = np.inf

    @property
    def means(self) -> tuple[Array, ...]:
        """Mean squared error of each fold, for each way to divide the samples."""
        pairs = zip(self.kinds, self.samples, strict=True)
        return tuple(
            errors * samples.sum() / np.maximum(samples, 1.0) for errors, samples in pairs
        )

    @property
    def mean(self) -> float:
        """Sum of the squared errors, as the mean over the ways to divide the samples."""
        return float(np.mean([errors.sum() for errors in self.kinds]))


def gains(simple: HeldOut, rich: HeldOut) -> tuple[Array, Array]:
    """Return what the richer candidate gains, and its standard error, for each kind of folds.

    :return: mean over the samples of the logarithm of the ratio of mean squared errors, positive:
        the richer candidate is better, and its standard error, shapes (k,)
    """
    result, tiny = [], np.finfo(float).tiny  # no error: its logarithm is finite
    for one, other, samples in zip(simple.means, rich.means, simple.samples, strict=True):
        ratio = np.log(np.maximum(one, tiny)) - np.log(np.maximum(other, tiny))
        both = (one > 0.0) & (other > 0.0)  # a fold may have no sample of one of them
        weight = np.where(both, samples, 0.0) / max(float(samples[both].sum()), 1.0)
        gain, folds = float(weight @ ratio), int(both.sum())
        spread = folds / max(folds - 1, 1) * float(weight**2 @ (ratio - gain) ** 2)
        result.append((gain, np.sqrt(spread)))
    gain_and_error: Array = np.array(result).T
    return gain_and_error[0], gain_and_error[1]


def is_better(simple: HeldOut, rich: HeldOut, level: float = ONE, *, share: float = 0.0) -> bool:
    """Return True if the richer candidate is significantly better.

    Its pooled error must be smaller, and the ratio of errors significantly so over the folds. Both
    kinds of folds hold the same samples, so that the standard error of their mean gain is the mean
    of their standard errors. The simpler candidate stays where one kind is significantly against
    the richer one, or this has too few independent samples.

    :param level: standard errors that the gain must exceed
    :param share: share of the squared error that the gain must exceed too
    """
    if [each.shape for each in simple.kinds] != [each.shape for each in rich.kinds]:
        return False  # other places were visited: they cannot be compared
    share = max(share, float(np.sqrt(np.finfo(float).eps)))  # equal candidates differ by rounding
    if rich.independent < INDEPENDENT or not rich.mean < (1.0 - share) * simple.mean:
        return False
    gain, error = gains(simple, rich)
    if not np.isfinite(gain).all() or (gain < -error).any():
        return False
    return bool(gain.mean() > level * error.mean())


def simplest(candidates: Sequence[HeldOut], *, share: float = 0.0) -> int:
    """Return the index of the simplest candidate that no richer one beats significantly.

    :param candidates: from the simplest to the richest
    """
    chosen = 0
    order = np.argsort([each.mean for each in candidates], kind='stable')
    for index in order.tolist():
        if index > chosen and is_better(candidates[chosen], candidates[index], share=share):
            chosen = index
            break
    for index in range(chosen):
        # What does not beat the simplest one is no compromise between it and the best.
        if index and not is_better(candidates[0], candidates[index], share=share):
            continue
        if not is_better(candidates[index], candidates[chosen], share=share):
            return index
    return chosen
