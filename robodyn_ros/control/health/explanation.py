# SPDX-License-Identifier: Apache-2.0
"""Choice of the explanation that predicts left-out motion best, and its values with intervals.

The rule is that of every automatic choice (docs/choices.md): a richer explanation must reduce the
held-out error by more than one standard error, over blocks of time and over places. A contact does
not do so: it does not repeat at other times and places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn_ros.control.health.evidence import Evidence
from robodyn_ros.control.health.hypotheses import Cause
from robodyn_ros.identification.fit.choice import RELEVANT, HeldOut, simplest
from robodyn_ros.models.interface import Array

CORRELATED = 8.0
"""Samples that count as one independent sample."""
RIDGE = 1e-4
"""Weight that regularises unknowns towards zero, on columns of unit length: those that a motion
does not excite stay zero."""


@dataclass(frozen=True)
class Explanation:
    """Selected explanation of the torque error.

    :param values: of its unknowns, shape (k,), SI
    :param spread: standard deviations by leaving out one fold at a time, shape (k,)
    :param removed: share of the squared torque error that it removes, held out
    :param torque: root mean square of the torque that it explains at each joint, divided by the
        noise, shape (n,); without an explanation that of the torque error
    """

    cause: Cause
    values: Array
    spread: Array
    removed: float
    torque: Array


def explain(evidence: Evidence) -> Explanation:
    """Choose the explanation; every block must have samples."""
    grams, samples = evidence.folds()
    rows = grams[0].sum(axis=0)
    joints = evidence.per_joint()
    fits = [_fits(evidence, kind.sum(axis=0) - kind) for kind in grams]
    independent = len(joints) * float(samples[0].sum()) / CORRELATED
    candidates = [
        HeldOut(
            tuple(_errors(fit[number], kind) for fit, kind in zip(fits, grams, strict=True)),
            tuple(samples),
            independent / max(width, 1),
        )
        for number, width in enumerate((0, *(each.width for each in evidence.hypotheses)))
    ]
    chosen = simplest(candidates, share=RELEVANT)
    if chosen == 0:
        left = np.sqrt(joints[:, -1, -1] / evidence.samples.sum())
        return Explanation(Cause.NONE, np.empty(0), np.empty(0), 0.0, left)
    values = _fits(evidence, rows[None])[chosen, 0]
    place = evidence.places[chosen - 1]
    return Explanation(
        evidence.hypotheses[chosen - 1].cause,
        values[place],
        np.max([_jackknife(fit[chosen][:, place]) for fit in fits], axis=0),
        1.0 - candidates[chosen].mean / candidates[0].mean,
        evidence.torque(place, values[place]),
    )


def _fits(evidence: Evidence, grams: Array) -> Array:
    """Return the values of all candidates, the first of which changes nothing.

    :param grams: normal equations of [Y | d], shape (m, K + 1, K + 1)
    :return: shape (1 + hypotheses, m, K)
    """
    result = np.zeros((1 + len(evidence.places), len(grams), evidence.width))
    for values, place in zip(result[1:], evidence.places, strict=True):
        square = grams[:, place, place]
        length = np.sqrt(np.einsum('mii->mi', square))
        length[length == 0.0] = 1.0
        scaled = square / (length[:, :, None] * length[:, None]) + RIDGE * np.eye(length.shape[1])
        right = grams[:, place, -1] / length
        values[:, place] = np.linalg.solve(scaled, right[:, :, None])[:, :, 0] / length
    return result


def _errors(values: Array, grams: Array) -> Array:
    """Return |Y x - d|^2 of each fold, shape (m,), from its normal equations."""
    full = np.column_stack([values, np.full(len(values), -1.0)])
    errors: Array = np.einsum('mi,mij,mj->m', full, grams, full, optimize=True)
    return np.maximum(errors, 0.0)


def _jackknife(values: Array) -> Array:
    """Return standard deviations from the values (m, k) without one fold each.

    This needs no assumption on how the errors of the model are correlated within a fold.
    """
    result: Array = np.sqrt((len(values) - 1) * values.var(axis=0))
    return result
