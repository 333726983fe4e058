# SPDX-License-Identifier: Apache-2.0
"""Several recordings of one robot: parameters that are common to all, or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.fit.choice import FOUR, MOST, HeldOut, is_better
from robodyn_ros.identification.fit.folds import Folds, least_squares
from robodyn_ros.models.interface import Array


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

        def fit(single: Array, others: Array = total - gram) -> Array:
            return np.array([least_squares(single + others), least_squares(single)])

        errors.append(folds.held_out(fit))
    common_errors, single_errors = (_of_all(each) for each in zip(*errors, strict=True))
    if is_better(common_errors, single_errors, FOUR, share=1.0 - MOST):
        shares = [single.mean / common.mean for common, single in errors]
        named = [
            f'{share:.1%} on {source}'
            for share, source in zip(shares, sources, strict=True)
            if share <= MOST
        ]
        yield finding('recordings_differ', recordings=', '.join(named))


def _of_all(parts: Sequence[HeldOut]) -> HeldOut:
    """Return the errors on the folds of all recordings."""
    kinds, samples = (
        tuple(np.concatenate(each) for each in zip(*single, strict=True))
        for single in ([part.kinds for part in parts], [part.samples for part in parts])
    )
    return HeldOut(kinds, samples, min(part.independent for part in parts))
