# SPDX-License-Identifier: Apache-2.0
"""Torque that is cut off at a limit, of the drive or of its measurement.

Two corrections are tried on a joint. The first one leaves out its largest torques, where that
lowers the held-out error of the others, and cuts the prediction off at a limit. The second one is
a torque that bends down as the cube of the prediction does, for recordings whose smaller torques
do not determine a fit. Torque saturates where a correction removes most of the error on parts that
were left out of the fit, and significantly (`fit.choice`). It is an error only if it also beats a
control: friction that is any function of the joint's velocity, whose plateaus look like a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import Case, Sample
from robodyn_ros.identification.factors.joint_fit import JointFit
from robodyn_ros.identification.fit.choice import FOUR, MOST, HeldOut, is_better
from robodyn_ros.identification.fit.folds import BLOCKS, Labels, labels_of, least_squares
from robodyn_ros.models.interface import Array

LEVELS = (0.8, 0.9, 0.96, 0.99, 0.998)
"""Quantiles of the absolute torque at which a limit is looked for: noise hides where it is."""

BELOW = 0.92
"""Share of a limit up to which torque is taken as not cut off, so that noise has no say."""


class Limit(NamedTuple):
    """Limit of a joint's torque.

    :param level: in [Nm] or [N]
    :param beyond: torque of the model where it is beyond the limit
    :param friction: friction by velocity explains the torque as well
    """

    level: float
    beyond: float
    share: float
    friction: bool


def saturation_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Name joints whose measured torque stays at a limit while the model's torque goes on."""
    labels = labels_of(case.signals.position[sample.rows])
    velocity = case.signals.motion[1][sample.rows]
    for joint, own in sample.fits():
        found = limit_of(own, [kind[own.rows] for kind in labels], velocity[own.rows, joint])
        if found is not None:
            yield finding(
                'torque_saturation.friction' if found.friction else 'torque_saturation',
                joint=case.signals.joints[joint],
                level=found.level,
                unit=case.model.joints[joint].torque_unit,
                share=found.share,
                beyond=found.beyond,
            )


def limit_of(own: JointFit, labels: Sequence[Labels], velocity: Array) -> Limit | None:
    """Return the limit of a joint's torque.

    Predictions without a limit are bounded by the largest torque too, so that no limit is found
    where a fit only does not extrapolate.

    :param labels: fold of each sample of the fit, for every way to divide them
    :param velocity: of the joint at these samples, shape (m,)
    """
    size = np.abs(own.torque)
    most, every = float(size.max(initial=0.0)), np.ones(len(size), dtype=bool)
    straight = _held_out(own, labels, every, limit=most)
    good = [
        (errors, model)
        for errors, model, inside in (*_cut_off(own, labels, size), *_bent(own, labels, size))
        if errors.mean < MOST * straight.mean
        and is_better(straight, errors, FOUR)
        and _spoilt(own, labels, inside)
    ]
    if not good:
        return None
    errors, model = min(good, key=lambda each: each[0].mean)
    control = _held_out(_with_friction(own, velocity), labels, every, limit=most)
    # The limit is the usual torque of those samples that the model puts beyond most of them.
    beyond = model > np.quantile(size, LEVELS[0])
    limit = float(np.median(size[beyond]))
    above = model > limit
    reached = float(np.quantile(model[above], 0.98))
    return Limit(limit, reached, float(above.mean()), not is_better(control, errors))


def _with_friction(own: JointFit, velocity: Array) -> JointFit:
    """Return the fit with any function of the velocity, linear between its quantiles."""
    knots = np.unique(np.quantile(velocity, np.linspace(0.0, 1.0, BLOCKS + 1)))
    shapes = [np.interp(velocity, knots, knot) for knot in np.eye(len(knots))]
    return replace(own, basis=np.column_stack([own.basis, *shapes]))


def _spoilt(own: JointFit, labels: Sequence[Labels], inside: Array | None) -> bool:
    """Return True if the fit of the samples inside a limit is better without the others.

    :param inside: which samples are; None: they do not determine a fit
    """
    if inside is None:
        return True
    every = np.ones(len(inside), dtype=bool)
    present, without = (_held_out(own, labels, kept, inside) for kept in (every, inside))
    return is_better(present, without, FOUR)


Candidate = tuple[HeldOut, Array, Array | None]
"""Errors of a correction, its torque without a limit (m,), and the samples that are inside."""


def _cut_off(own: JointFit, labels: Sequence[Labels], size: Array) -> Iterator[Candidate]:
    """Yield fits to smaller torques, with a limit."""
    for level in np.unique(np.quantile(size, LEVELS)):
        inside = size < BELOW * level
        if inside.sum() >= 4 * own.basis.shape[1]:
            model = np.abs(_predicted(own, inside))
            beyond = model > level
            limit = float(np.median(size[beyond])) if beyond.any() else float(level)
            yield _held_out(own, labels, inside, limit=limit), model, inside


def _bent(own: JointFit, labels: Sequence[Labels], size: Array) -> Iterator[Candidate]:
    """Yield a torque that bends down."""
    every = np.ones(len(size), dtype=bool)
    model = _predicted(own, every)
    cube = model**3 / max(float(np.abs(model).max(initial=0.0)) ** 2, 1e-300)
    wider = replace(own, basis=np.column_stack([own.basis, cube]))
    values = least_squares(_gram(wider, every))
    if values[-1] < 0.0:
        errors = _held_out(wider, labels, every, limit=float(size.max(initial=0.0)))
        yield errors, np.abs(own.basis @ values[:-1]), None


def _predicted(own: JointFit, kept: Array) -> Array:
    """Return the torque (m,) of a fit to some samples."""
    return np.asarray(own.basis @ least_squares(_gram(own, kept)))


def _gram(own: JointFit, rows: Array) -> Array:
    full = np.column_stack([own.basis[rows], own.torque[rows]])
    return np.asarray(full.T @ full)


def _held_out(
    own: JointFit,
    labels: Sequence[Labels],
    kept: Array,
    judged: Array | None = None,
    *,
    limit: float = np.inf,
) -> HeldOut:
    """Return errors on each fold, of fits to the kept samples of the others."""
    judged = np.ones(len(kept), dtype=bool) if judged is None else judged
    kinds, samples = [], []
    for kind in labels:
        grams = np.array([_gram(own, kept & (kind == fold)) for fold in range(kind.max() + 1)])
        errors = []
        for fold, gram in enumerate(grams):
            here = judged & (kind == fold)
            predicted = own.basis[here] @ least_squares(grams.sum(axis=0) - gram)
            errors.append(np.sum((np.clip(predicted, -limit, limit) - own.torque[here]) ** 2))
        kinds.append(np.array(errors))
        counts = np.bincount(kind[judged], minlength=len(grams))
        samples.append(counts.astype(np.float64))
    return HeldOut(tuple(kinds), tuple(samples))
