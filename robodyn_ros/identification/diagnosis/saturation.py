# SPDX-License-Identifier: Apache-2.0
"""Torque that is cut off at a limit, of the drive or of its measurement.

Two corrections are tried on a joint: a fit without its largest torques whose prediction is cut
off at a limit, and a torque that bends down as the cube of the prediction does, for recordings
whose smaller torques do not determine a fit. Torque saturates where one of them removes most of
the error on parts that were left out of the fit, and significantly (`fit.choice`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import Case, Sample
from robodyn_ros.identification.diagnosis.trial import MOST
from robodyn_ros.identification.factors.joint_fit import OwnFit
from robodyn_ros.identification.fit.choice import FOUR, HeldOut, is_better
from robodyn_ros.identification.fit.folds import Labels, labels_of, least_squares
from robodyn_ros.models.interface import Array

LEVELS = (0.8, 0.9, 0.96, 0.99, 0.998)
"""Quantiles of the absolute torque at which a limit is looked for: noise hides where it is."""

BELOW = 0.92
"""Share of a limit up to which torque is taken as not cut off, so that noise has no say."""


def saturation_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Name joints whose measured torque stays at a limit while the model's torque goes on."""
    labels = labels_of(case.signals.position[sample.rows])
    for joint, own in sample.fits():
        found = limit_of(own, [kind[own.rows] for kind in labels])
        if found is not None:
            level, beyond, share = found
            yield finding(
                'torque_saturation',
                joint=case.signals.joints[joint],
                level=level,
                unit=case.model.joints[joint].torque_unit,
                share=share,
                beyond=beyond,
            )


def limit_of(own: OwnFit, labels: Sequence[Labels]) -> tuple[float, float, float] | None:
    """Return the limit of a joint's torque, the model's torque beyond it, and the share of it.

    Predictions without a limit are bounded by the largest torque too, so that no limit is found
    where a fit only does not extrapolate.

    :param labels: fold of each sample of the fit, for every way to divide them
    """
    size = np.abs(own.torque)
    every = np.ones(len(size), dtype=bool)
    straight = _held_out(own, labels, float(size.max(initial=0.0)), every)
    candidates = [*_cut_off(own, labels, size), *_bent(own, labels, size)]
    good = [
        each
        for each in candidates
        if each[0].mean < MOST * straight.mean and is_better(straight, each[0], FOUR)
    ]
    if not good:
        return None
    _, model = min(good, key=lambda each: each[0].mean)
    # The limit is the usual torque of those samples that the model puts beyond most of them.
    beyond = model > np.quantile(size, LEVELS[0])
    limit = float(np.median(size[beyond]))
    above = model > limit
    return limit, float(np.quantile(model[above], 0.98)), float(above.mean())


def _cut_off(
    own: OwnFit, labels: Sequence[Labels], size: Array
) -> Iterator[tuple[HeldOut, Array]]:
    """Yield the errors of fits to smaller torques with a limit, and their torque without it."""
    for level in np.unique(np.quantile(size, LEVELS)):
        inside = size < BELOW * level
        if inside.sum() >= 4 * own.basis.shape[1]:
            model = np.abs(_predicted(own, inside))
            beyond = model > level
            limit = float(np.median(size[beyond])) if beyond.any() else float(level)
            yield _held_out(own, labels, limit, inside), model


def _bent(own: OwnFit, labels: Sequence[Labels], size: Array) -> Iterator[tuple[HeldOut, Array]]:
    """Yield the errors of a torque that bends down, and that torque without the bend."""
    every = np.ones(len(size), dtype=bool)
    model = _predicted(own, every)
    cube = model**3 / max(float(np.abs(model).max(initial=0.0)) ** 2, 1e-300)
    wider = replace(own, basis=np.column_stack([own.basis, cube]))
    values = least_squares(_gram(wider, every))
    if values[-1] < 0.0:
        errors = _held_out(wider, labels, float(size.max(initial=0.0)), every)
        yield errors, np.abs(own.basis @ values[:-1])


def _predicted(own: OwnFit, kept: Array) -> Array:
    """Return the torque (m,) of a fit to some samples."""
    return np.asarray(own.basis @ least_squares(_gram(own, kept)))


def _gram(own: OwnFit, rows: Array) -> Array:
    full = np.column_stack([own.basis[rows], own.torque[rows]])
    return np.asarray(full.T @ full)


def _held_out(own: OwnFit, labels: Sequence[Labels], limit: float, kept: Array) -> HeldOut:
    """Return errors on each fold, of fits to the kept samples of the others, with a limit."""
    kinds, samples = [], []
    for kind in labels:
        grams = np.array([_gram(own, kept & (kind == fold)) for fold in range(kind.max() + 1)])
        errors = []
        for fold, gram in enumerate(grams):
            here = kind == fold
            predicted = own.basis[here] @ least_squares(grams.sum(axis=0) - gram)
            errors.append(np.sum((np.clip(predicted, -limit, limit) - own.torque[here]) ** 2))
        kinds.append(np.array(errors))
        samples.append(np.bincount(kind, minlength=len(grams)).astype(np.float64))
    return HeldOut(tuple(kinds), tuple(samples))
