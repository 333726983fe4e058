# SPDX-License-Identifier: Apache-2.0
"""Held-out torque errors of a model with corrected signals, which measure a correction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.polynomial.polynomial import polyvander

from robodyn_ros.findings import Finding, sentence
from robodyn_ros.identification.diagnosis.case import Case, Sample, thinned
from robodyn_ros.identification.factors.joint_fit import root_mean_square
from robodyn_ros.identification.fit.choice import FOUR, MOST, ONE, HeldOut, is_better
from robodyn_ros.identification.fit.folds import Labels, labels_of
from robodyn_ros.identification.fit.success import SMALL_TORQUE, rated_torque
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.interface import Array, DynamicModel, Indices

NEGLIGIBLE = 0.02
"""Error below this share of a joint's torque that no correction is asked to explain: no model of
a geared joint is more exact."""


@dataclass(frozen=True)
class Trial:
    """Samples as a model and corrected signals explain them.

    :param motion: q, qd, qdd of the samples, each of shape (M, n)
    :param torque: shape (M, n), in [Nm] or [N]
    :param weight: of each sample of each joint, 1 / torque, 0 where it does not count, (M, n)
    :param regressor: of the model at the samples, shape (M, n, p)
    """

    model: DynamicModel
    motion: tuple[Array, Array, Array]
    torque: Array
    weight: Array
    regressor: Array

    @classmethod
    def of(cls, case: Case, sample: Sample) -> Trial:
        """Return the samples as they were recorded."""
        return cls.at(case, thinned(sample.rows))

    @classmethod
    def at(cls, case: Case, rows: Indices) -> Trial:
        """Return some samples of a recording."""
        return cls.taken(case.model, case.signals, rows)

    @classmethod
    def taken(cls, model: DynamicModel, signals: Processed, rows: Indices) -> Trial:
        """Return some samples of processed signals, as a model explains them."""
        q, qd, qdd = (values[rows] for values in signals.motion)
        torque, used = signals.torque[rows], signals.used[rows]
        size = np.array([root_mean_square(column) for column in torque.T])
        size = np.maximum(size, SMALL_TORQUE * rated_torque(model, size))
        weight = used / np.maximum(size, 1e-12)
        regressor = model.regressor(q, qd, qdd)
        return cls(model, (q, qd, qdd), torque, weight, regressor)

    def moved(self, motion: tuple[Array, Array, Array]) -> Trial:
        """Return the same with another motion."""
        return replace(self, motion=motion, regressor=self.model.regressor(*motion))

    def explained_by(self, model: DynamicModel) -> Trial:
        """Return the same with another model."""
        return replace(self, model=model, regressor=model.regressor(*self.motion))

    def scaled(self, joint: int, factor: float) -> Trial:
        """Return the same with a joint's torque divided by a factor, errors relative as before."""
        factors = np.where(np.arange(self.torque.shape[1]) == joint, factor, 1.0)
        return replace(self, torque=self.torque / factors, weight=self.weight * np.abs(factors))

    def with_springs(self) -> Trial:
        """Return the same with a torque of each joint that depends on its own position alone.

        It stands for springs and balancers, which the models lack: a polynomial that follows the
        sine of a lever for a complete turn.
        """
        q = self.motion[0]
        count, joints = q.shape
        middle, half = (q.max(axis=0) + q.min(axis=0)) / 2.0, np.ptp(q, axis=0) / 2.0
        powers = polyvander((q - middle) / np.maximum(half, 1e-12), deg=5)
        springs = (np.eye(joints)[:, :, None] * powers[:, :, None, :]).reshape(count, joints, -1)
        return replace(self, regressor=np.concatenate([self.regressor, springs], axis=2))

    @cached_property
    def rows(self) -> Array:
        """Weighted rows [regressor | torque], shape (M, n, p + 1)."""
        whole = np.concatenate([self.regressor, self.torque[:, :, None]], axis=2)
        return np.asarray(whole * self.weight[:, :, None])

    def fitted(self) -> tuple[Array, float]:
        """Return the values that fit all samples best, shape (p,), and their squared error."""
        values = fitted_to(self.gram)
        return values, squared_error(self.gram, values)

    @cached_property
    def gram(self) -> Array:
        """Products of the rows, shape (p + 1, p + 1)."""
        return gram_of(self.rows)

    def held_out(self, folds: tuple[Indices, ...]) -> HeldOut:
        """Return the squared errors on folds that were left out of the fit.

        :param folds: number of the fold of each sample (M,), for each way to divide them
        """
        grams = self._grams(folds)
        return self._errors(
            folds, ([(each, fitted_to(own.sum(axis=0) - each)) for each in own] for own in grams)
        )

    def apart(self, folds: tuple[Indices, ...]) -> HeldOut:
        """Return the squared errors of fits to each joint alone, which share no parameter."""
        joints = range(self.torque.shape[1])
        alone = [
            replace(self, weight=self.weight * (np.arange(len(joints)) == joint)).held_out(folds)
            for joint in joints
        ]
        kinds, samples = (
            tuple(np.sum(own, axis=0) for own in zip(*each, strict=True))
            for each in ([own.kinds for own in alone], [own.samples for own in alone])
        )
        return HeldOut(kinds, samples)

    def predicted(self, values: Array, folds: tuple[Indices, ...]) -> HeldOut:
        """Return the squared errors on folds, of values (p,) that other samples were fitted by."""
        grams = self._grams(folds)
        return self._errors(folds, ([(each, values) for each in own] for own in grams))

    def _grams(self, folds: tuple[Indices, ...]) -> list[Array]:
        return [
            np.array([gram_of(self.rows[fold == part]) for part in np.unique(fold)])
            for fold in folds
        ]

    def _errors(
        self, folds: tuple[Indices, ...], fits: Iterable[Iterable[tuple[Array, Array]]]
    ) -> HeldOut:
        counted = np.count_nonzero(self.weight, axis=1)
        samples = tuple(
            np.array([counted[fold == part].sum() for part in np.unique(fold)], dtype=float)
            for fold in folds
        )
        errors = (np.array([squared_error(gram, values) for gram, values in own]) for own in fits)
        return HeldOut(tuple(errors), samples)


def folds(trial: Trial) -> tuple[Labels, ...]:
    """Return the number of the fold of each sample, for each way to divide them, each (M,)."""
    return labels_of(trial.motion[0])


def share_left(present: HeldOut, corrected: HeldOut, samples: int, level: float = ONE) -> float:
    """Return the share of the squared error that a correction leaves; 1 if it is not better.

    Dozens of corrections are tried, the best of which is better than none by chance: an error
    takes a level of `FOUR`.

    :param samples: those that errors are of
    :param level: standard errors by which it must be better
    """
    if not is_better(present, corrected, level):
        return 1.0
    return relative_error(present.mean, corrected.mean, samples)


def confirmed(case: Case, found: Finding, present: Trial, corrected: Trial) -> Finding:
    """Return a flaw of one recording; it is a warning if the others do not confirm it.

    :param present: samples of the recording as it is
    :param corrected: the same without the flaw
    """
    if case.others is None or found.severity != 'error' or _confirms(case, present, corrected):
        return found
    text = f'{found.text} {sentence("not_confirmed")}'
    return replace(found, severity='warning', text=text)


def _confirms(case: Case, present: Trial, corrected: Trial) -> bool:
    assert case.others is not None
    if corrected.regressor.shape[2] != len(case.others):
        return False  # a model with other parameters would be that of all recordings
    division, count = folds(present), int(np.count_nonzero(present.weight))
    before, after = (each.predicted(case.others, division) for each in (present, corrected))
    return share_left(before, after, count, FOUR) <= MOST


def relative_error(present: float, corrected: float, samples: int) -> float:
    """Return a squared error as a share of the present one; negligible ones count as alike."""
    floor = NEGLIGIBLE**2 * samples
    return (corrected + floor) / (present + floor)


def gram_of(rows: Array) -> Array:
    """Return the products (p + 1, p + 1) of rows [regressor | torque], shape (..., p + 1)."""
    flat = rows.reshape(-1, rows.shape[-1])
    return np.asarray(flat.T @ flat)


def fitted_to(gram: Array) -> Array:
    """Return the values (p,) that suit rows [regressor | torque] with this product best."""
    return solution(gram[:-1, :-1], gram[:-1, -1])


def solution(matrix: Array, side: Array) -> Array:
    """Return the solution (p,) of normal equations, the smallest one where there are many.

    Directions whose squares are near the rounding of the largest are left out.
    """
    length = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    scale = np.where(length > 1e-12 * length.max(initial=1e-300), length, np.inf)
    size, axes = np.linalg.eigh(matrix / np.outer(scale, scale))
    kept = size > np.sqrt(np.finfo(float).eps) * size[-1]
    seen = axes[:, kept]
    return np.asarray(seen @ ((seen.T @ (side / scale)) / size[kept]) / scale)


def squared_error(gram: Array, values: Array) -> float:
    """Return the squared error of values (p,) on rows [regressor | torque] with this product."""
    whole = np.append(values, -1.0)
    return max(float(whole @ gram @ whole), 0.0)
