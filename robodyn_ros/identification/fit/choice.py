"""Choice between candidates by their errors on folds that were left out of the fit.

One rule serves every automatic decision. A richer candidate (more parameters, or a weaker prior)
is taken only if its held-out error is lower than that of the simpler one by more than one standard
error of the paired difference (Breiman et al., "Classification and Regression Trees", 1984,
section 3.4.3). Motions repeat, so a block of time that is left out is seldom new. Hence the same
samples are divided twice: into blocks of time and into regions of the workspace.
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


@dataclass(frozen=True)
class HeldOut:
    """Squared errors of a candidate on folds that were left out of its fit.

    :param kinds: for each way to divide the samples, the sum of the squared errors of every fold
    """

    kinds: tuple[Array, ...]

    @property
    def mean(self) -> float:
        """Sum of the squared errors, as the mean over the ways to divide the samples."""
        return float(np.mean([errors.sum() for errors in self.kinds]))


def gains(simple: HeldOut, rich: HeldOut) -> tuple[Array, Array]:
    """Return what the richer candidate gains, and its standard error, for each kind of folds.

    :return: reduction of the squared error, and its standard error, shapes (k,)
    """
    pairs = [one - other for one, other in zip(simple.kinds, rich.kinds, strict=True)]
    gain = np.array([pair.sum() for pair in pairs])
    error = np.array([pair.std(ddof=1) * np.sqrt(len(pair)) for pair in pairs])
    return gain, error


def is_better(simple: HeldOut, rich: HeldOut, level: float = ONE) -> bool:
    """Return True if the richer candidate is significantly better.

    Both kinds of folds hold the same samples, so their gains are taken as fully correlated: the
    standard error of their mean is the mean of their standard errors. Where one kind speaks
    significantly against the richer candidate, the data do not decide.

    :param level: standard errors that are asked for
    """
    gain, error = gains(simple, rich)
    if not np.isfinite(gain).all() or (gain < -error).any():
        return False
    return bool(gain.mean() > level * error.mean())


def simplest(candidates: Sequence[HeldOut], level: float = ONE) -> int:
    """Return the index of the simplest candidate that no richer one beats significantly.

    :param candidates: from the simplest to the richest
    """
    chosen = 0
    order = np.argsort([each.mean for each in candidates], kind='stable')
    for index in order.tolist():
        if index > chosen and is_better(candidates[chosen], candidates[index], level):
            chosen = index
            break
    for index in range(chosen):
        if not is_better(candidates[index], candidates[chosen], level):
            return index
    return chosen
