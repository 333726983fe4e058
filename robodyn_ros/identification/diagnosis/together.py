# SPDX-License-Identifier: Apache-2.0
"""Several recordings of one robot, which say more about a flaw than each of them.

A flaw of the robot or of its model is in all recordings: it is looked for in all of them together.
A flaw of one recording sets it against the others: the parameters that fit those predict its
torque much better once it is corrected. What one recording says by itself is a warning.
Recordings with different loads each have parameters of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import COMPARED, Case
from robodyn_ros.identification.diagnosis.trial import Trial, fitted_to
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.fit.choice import FOUR, MOST, HeldOut, is_better
from robodyn_ros.identification.fit.folds import Folds, least_squares
from robodyn_ros.models.interface import Array

SIGNALS = (
    *('time', 'position', 'velocity', 'acceleration', 'torque', 'measured'),
    *('measured_position', 'used', 'moving', 'resting'),
)
"""Arrays of processed signals with a row per sample."""


def together(cases: Sequence[Case], samples: int = 5000) -> Case:
    """Return the recordings as one, which has samples of each in their order."""
    parts = [
        case.signals.cut(slice(None, None, -(-len(case.signals) * len(cases) // samples)))
        for case in cases
    ]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in SIGNALS
    }
    signals = replace(parts[0], **arrays, gaps=None, known=None)
    return replace(cases[0], signals=signals, others=None)


def different_findings(
    apart: Sequence[Condensed], sigma: Array, sources: Sequence[str]
) -> Iterator[Finding]:
    """Yield a finding if recordings have parameters of their own, not common ones.

    Errors are those on the folds of every recording, each left out of both fits.

    :param apart: factors of each recording
    :param sigma: residual standard deviation that joints are weighted by, shape (n,)
    :param sources: name of each recording
    """
    every = [Folds.of_sample(each.sample.few(), sigma) for each in apart]
    known = [folds for folds in every if folds is not None]
    if len(known) < max(len(every), 2) or len({len(folds.count) for folds in known}) > 1:
        return  # too few samples, or a recording without motion, which has no regions
    grams = [folds.weighted[0].sum(axis=0) for folds in known]
    total = np.sum(grams, axis=0)
    errors = []
    for folds, gram in zip(known, grams, strict=True):

        def fit(own: Array, others: Array = total - gram) -> Array:
            return np.array([least_squares(own + others), least_squares(own)])

        errors.append(folds.held_out(fit))
    common_errors, own_errors = (_of_all(each) for each in zip(*errors, strict=True))
    if is_better(common_errors, own_errors, FOUR, share=1.0 - MOST):
        shares = [own.mean / common.mean for common, own in errors]
        named = [
            f'{share:.1%} on {source}'
            for share, source in zip(shares, sources, strict=True)
            if share <= MOST
        ]
        yield finding('recordings_differ', recordings=', '.join(named))


def _of_all(parts: Sequence[HeldOut]) -> HeldOut:
    """Return the errors on the folds of all recordings."""
    kinds, samples = (
        tuple(np.concatenate(each) for each in zip(*own, strict=True))
        for own in ([part.kinds for part in parts], [part.samples for part in parts])
    )
    return HeldOut(kinds, samples, min(part.independent for part in parts))


def with_others(cases: Sequence[Case]) -> list[Case]:
    """Return each recording with the parameters that fit all others; alone, it has none."""
    if len(cases) < 2:
        return list(cases)
    grams = np.array([_gram(case) for case in cases])
    total = grams.sum(axis=0)
    return [
        replace(case, others=fitted_to(total - own))
        for case, own in zip(cases, grams, strict=True)
    ]


def _gram(case: Case) -> Array:
    count = len(case.signals)
    rows = np.linspace(0, count - 1, min(COMPARED, count)).astype(np.intp)
    return Trial.at(case, rows).gram
