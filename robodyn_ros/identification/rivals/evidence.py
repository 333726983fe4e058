# SPDX-License-Identifier: Apache-2.0
"""Samples of a recording as a hypothesis reads them, and the torque errors that it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyvander

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.fit.folds import Labels
from robodyn_ros.identification.signals.processed import Mask
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.friction_terms import BRAKING
from robodyn_ros.models.interface import Array, DynamicModel, Indices

RIDGE = 1e-5
"""Ridge on columns of unit length: directions below a 300th of a column's length come out as zero.
They are noise of the filter, and an error on the fold that is left out."""

EXPLAINED = 0.5
"""Torque error of a corrected recording, over all joints, above which it is not explained."""

ROUGH = 0.06
"""Square of the error of torques that follow from the masses of a good URDF: a quarter of them."""

Motion = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Evidence:
    """Samples as one hypothesis reads them; arrays of joints are in the order of the model.

    :param motion: q, qd, qdd of the samples, each of shape (M, n)
    :param torque: shape (M, n), in [Nm] or [N]
    :param used: samples that are fitted, shape (M, n)
    :param unit: what one unit of `torque` was in the recording, with its sign, shape (n,)
    :param column: column of the recording that the torque of each joint comes from, shape (n,)
    :param size: error that each column of the recording is weighted by, shape (n,)
    :param labels: fold of each sample, for each way to divide them, each of shape (M,)
    :param beside: columns in addition to those of the model: 'friction', 'springs'
    :param compared: samples whose errors count, shape (M, n); None: those that are fitted
    :param ridge: on columns of unit length
    :param rough: difference `masses` that says little
    """

    model: DynamicModel
    base: BaseParameters
    motion: Motion
    torque: Array
    used: Mask
    unit: Array
    column: Indices
    size: Array
    labels: tuple[Labels, ...]
    beside: tuple[str, ...] = ()
    compared: Mask | None = None
    ridge: float = RIDGE
    rough: float = ROUGH

    @cached_property
    def regressor(self) -> Array:
        """Base columns of the model at the samples, and those beside it, shape (M, n, b)."""
        columns = [self.model.select_columns(*self.motion, self.base.columns)]
        columns += [_of_joints(_BESIDE[name](self.motion)) for name in self.beside]
        return np.concatenate(columns, axis=2)

    @property
    def rows(self) -> Array:
        """Rows [regressor | torque] in units of the error of each joint, shape (M, n, b + 1)."""
        return self._weigh(self.used)

    def read(self, **changes: Any) -> Evidence:
        """Return the same with other torques or samples, and the regressor as it is."""
        fresh = replace(self, **changes)
        fresh.__dict__['regressor'] = self.regressor  # it is most of the work
        return fresh

    def few(self, step: int = 3) -> Evidence:
        """Return the same with few samples, for a search."""
        q, qd, qdd = (values[::step] for values in self.motion)
        torque, used = self.torque[::step], self.used[::step]
        labels = tuple(each[::step] for each in self.labels)
        fresh = replace(self, motion=(q, qd, qdd), torque=torque, used=used, labels=labels)
        fresh.__dict__['regressor'] = self.regressor[::step]
        return fresh

    def mix(self, matrix: Array, offset: Array | float = 0.0) -> Evidence:
        """Return the same with the positions (M, n) times a matrix (n, n), shifted."""
        q, qd, qdd = (values @ matrix for values in self.motion)
        return replace(self, motion=(q + offset, qd, qdd))

    def factors(self, joints: int | Sequence[int], value: float) -> Array:
        """Return a factor of some joints, 1 for the others, shape (n,)."""
        return np.where(np.isin(np.arange(self.torque.shape[1]), joints), value, 1.0)

    def scale(self, factor: Array) -> Evidence:
        """Return the same with the torque of each joint divided by a factor (n,).

        Products of its rows follow from those of this one.
        """
        fresh = self.read(torque=self.torque / factor, unit=self.unit * factor)
        origin, before = self.origin
        fresh.__dict__['_scaled'] = origin, before * factor  # no field: replace() must lose it
        return fresh

    @property
    def origin(self) -> tuple[Evidence, Array]:
        """The reading that this one is scaled from, or itself, and the factor (n,)."""
        scaled: tuple[Evidence, Array] | None = self.__dict__.get('_scaled')
        return scaled or (self, np.ones(self.torque.shape[1]))

    @property
    def error(self) -> float:
        """Mean squared error of a fit to all samples, in units of `size`, sum of the joints.

        Infinite where the robot cannot reach the positions: they are no reading of the recording.
        """
        try:
            return float(self._left.sum())
        except RobodynError:
            return np.inf

    @property
    def cost(self) -> float:
        """Logarithm of the squared errors of a fit to all samples, and what masses say of it.

        Infinite where the robot cannot reach the positions: they are no reading of the recording.
        """
        try:
            return float(np.log1p(self._left).sum() + np.log1p(self.masses / self.rough).sum())
        except RobodynError:
            return np.inf

    @cached_property
    def masses(self) -> Array:
        """Difference between the torque of each joint and that of the URDF's masses, shape (n,).

        Its square against the product of both, so that a factor counts as much as its inverse:
        0 to 1, and 0 without a prior. What friction, rotors and offsets explain is removed.
        """
        origin, factor = self.origin
        measured, expected, mixed, raw, count, known = origin._beside_friction
        measured, mixed, raw = measured / factor**2, mixed / factor, raw / factor**2
        size = self.size[self.column] / np.abs(self.unit)
        square = np.maximum(measured + expected - 2.0 * mixed, 0.0)
        sums = square + np.sqrt(measured * expected) + count * size**2 + 0.01 * raw
        return np.asarray(np.where(known > 0.0, square / np.maximum(sums, 1e-300), 0.0))

    @cached_property
    def values(self) -> Array:
        """Base values that fit all samples best, then those of the columns beside them, (b,)."""
        return np.asarray(_solve(self._products.sum(axis=0)[None], self._braking, self.ridge)[0])

    @cached_property
    def predicted(self) -> Array:
        """Torque (M, n) of the fit to all samples, in [Nm] or [N]."""
        return np.asarray(self.regressor @ self.values)

    @cached_property
    def held_out(self) -> Array:
        """Mean squared errors on folds left out of the fit, in squares of `size`.

        Of each fold and column of the recording, shape (folds, n), all kinds of folds below each
        other.
        """
        pairs = zip(self.labels, self._fold_products, strict=True)
        return np.vstack([self._held_out(*each) for each in pairs])

    @property
    def _left(self) -> Array:
        """Mean squared error of each joint in a fit to all samples, in squares of `size`, (n,)."""
        full = np.append(self.values, -1.0)
        square = full @ self._products @ full
        return np.asarray(np.maximum(square, 0.0) / max(len(self.torque), 1))

    @cached_property
    def _products(self) -> Array:
        """Products of the rows of each joint, shape (n, b + 1, b + 1)."""
        origin, factor = self.origin
        if origin is self:
            by_joint = self.rows.transpose(1, 2, 0)
            return np.asarray(by_joint @ by_joint.transpose(0, 2, 1))
        return origin._products * _row_factors(factor, origin._products)

    @cached_property
    def _fold_products(self) -> tuple[Array, ...]:
        """The same of each fold, for each way to divide them, (folds, n, b + 1, b + 1)."""
        origin, factor = self.origin
        if origin is self:
            return tuple(_grams(self.rows, labels) for labels in self.labels)
        return tuple(each * _row_factors(factor, each) for each in origin._fold_products)

    @cached_property
    def optimism(self) -> float:
        """Logarithm of held-out squared errors over those of the fit, sum of the joints.

        Optimism of the fit (Efron, "How biased is the apparent error rate", 1986): where few
        different samples determine the model, wrong readings gain as much.
        """
        return float(np.log1p(self.held_out).sum(axis=1).mean() - np.log1p(self._left).sum())

    @cached_property
    def _beside_friction(self) -> tuple[Array, ...]:
        """Products of torque and that of the URDF's masses beside friction, rotors, offsets.

        Squares of both, their product, the square of the torque as it is, samples, and 1 where
        masses are known; each of shape (n,).
        """
        prior = self.base.values(np.nan_to_num(self.model.prior()))
        given = self.regressor[:, :, : len(prior)] @ prior
        _, speed, push = self.motion
        beside = np.stack([push, speed, np.sign(speed), np.ones_like(speed)], axis=2)
        beside, pair, raw = (
            (values * self.used[:, :, None]).transpose(1, 0, 2)
            for values in (beside, np.stack([self.torque, given], axis=2), self.torque[:, :, None])
        )
        length = np.linalg.norm(beside, axis=1, keepdims=True)
        basis = np.linalg.qr(beside / np.maximum(length, 1e-300))[0]
        pair = pair - basis @ (basis.transpose(0, 2, 1) @ pair)
        square = pair.transpose(0, 2, 1) @ pair
        known = np.asarray(given.any(axis=0), dtype=np.float64)
        sums = np.sum(raw[:, :, 0] ** 2, axis=1), self.used.sum(axis=0), known
        return square[:, 0, 0], square[:, 1, 1], square[:, 0, 1], *sums

    @cached_property
    def _braking(self) -> Array:
        names = [self.model.parameters[k].name.rpartition('.')[2] for k in self.base.columns]
        brakes = [name in BRAKING for name in names]
        count = self.torque.shape[1]
        beside = [(_BRAKES[name] * count) for name in self.beside]
        return np.array([*brakes, *(each for part in beside for each in part)], dtype=bool)

    def _weigh(self, used: Mask) -> Array:
        weight = used * np.abs(self.unit) / self.size[self.column]
        full = np.concatenate([self.regressor, self.torque[:, :, None]], axis=2)
        return np.asarray(full * weight[:, :, None])

    def _held_out(self, labels: Labels, products: Array) -> Array:
        folds, joints = len(products), self.torque.shape[1]
        each = products.sum(axis=1)
        values = _solve(each.sum(axis=0) - each, self._braking, self.ridge)
        if self.compared is not None:
            products = _grams(self._weigh(self.compared), labels)
        full = np.column_stack([values, np.full(folds, -1.0)])
        square = np.einsum('fi,fjik,fk->fj', full, products, full, optimize=True)
        count = np.maximum(np.bincount(labels, minlength=folds), 1)[:, None]
        result = np.empty((folds, joints))
        result[:, self.column] = np.maximum(square, 0.0) / count
        return result


def gain(present: Array, corrected: Array, masses: float = 0.0) -> tuple[float, float]:
    """Return the gain of a correction, and the gain in its standard errors.

    The gain is the mean over the folds of the logarithm of the ratio of squared errors, summed
    over the joints. An error below `size` counts as `size`, about.

    :param present: held-out errors without the correction, shape (folds, n)
    :param corrected: the same with it
    :param masses: what masses add to it, see `agreement`
    """
    folds = np.sum(np.log1p(present) - np.log1p(corrected), axis=1) + masses
    error = float(folds.std(ddof=1)) / np.sqrt(len(folds))
    return float(folds.mean()), float(folds.mean()) / max(error, 1e-9)


def roughness(masses: Array) -> float:
    """Return the difference that says little: that of the joints that agree most.

    :param masses: see `Evidence.masses`, shape (n,)
    """
    known = masses[masses > 0.0]
    return max(float(np.quantile(known, 0.25)), ROUGH) if len(known) else ROUGH


def agreement(present: Array, corrected: Array) -> float:
    """Return how much better a correction suits the masses of the URDF, in units of a gain.

    :param present: differences from the masses without it, shape (n,), see `Evidence.masses`
    :param corrected: the same with it
    """
    rough = roughness(corrected)
    return float(np.sum(np.log1p(present / rough) - np.log1p(corrected / rough)))


def residual_shares(evidence: Evidence) -> tuple[Array, float]:
    """Return the held-out error of each column as a share of its torque, (n,), and of all."""
    rms = np.empty(len(evidence.size))
    torque = evidence.torque * evidence.unit
    rms[evidence.column] = np.sqrt(np.mean(torque**2, axis=0))
    left = np.sqrt(np.mean(evidence.held_out, axis=0)) * evidence.size
    pooled = float(np.linalg.norm(left) / max(np.linalg.norm(rms), 1e-300))
    return left / np.maximum(rms, 1e-300), pooled


def _grams(rows: Array, labels: Labels) -> Array:
    """Return the products of the rows of each fold and joint, shape (folds, n, b + 1, b + 1)."""
    parts = (rows[labels == fold].transpose(1, 2, 0) for fold in range(int(labels.max()) + 1))
    return np.array([part @ part.transpose(0, 2, 1) for part in parts])


def _row_factors(factor: Array, products: Array) -> Array:
    """Return what products of rows change by if torques are divided by factors (n,)."""
    size = np.abs(factor)[:, None] * np.ones(products.shape[-1])
    size[:, -1] = np.sign(factor)
    return np.asarray(size[:, :, None] * size[:, None, :])


def _solve(grams: Array, braking: Array, ridge: float) -> Array:
    """Solve normal equations (k, b + 1, b + 1) of [A | y]; friction does not drive, shape (k, b).

    Friction that comes out negative is held at zero, as in non-negative least squares.
    """
    square, side = grams[:, :-1, :-1], grams[:, :-1, -1]
    length = np.sqrt(np.maximum(np.einsum('kii->ki', square), 0.0))
    unknown = length <= 1e-9 * length.max(axis=1, keepdims=True)
    length = np.where(unknown, 1.0, length)
    scale = square / (length[:, :, None] * length[:, None, :])
    held = np.array(unknown)
    values = np.zeros_like(side)
    for _ in range(5):
        diagonal = np.where(held, 1e9, ridge)[:, :, None] * np.eye(side.shape[1])
        values = np.linalg.solve(scale + diagonal, (side / length)[:, :, None])[:, :, 0]
        fresh = braking & (values < -1e-9 * np.abs(values).max(axis=1, keepdims=True)) & ~held
        if not fresh.any():
            break
        held |= fresh
    return np.where(held, 0.0, values / length)


def _springs(motion: Motion) -> Array:
    """Return powers of each joint's position, shape (M, n, 3): springs and balancers."""
    q = motion[0]
    middle, half = (q.max(axis=0) + q.min(axis=0)) / 2.0, np.ptp(q, axis=0) / 2.0
    return np.asarray(polyvander((q - middle) / np.maximum(half, 1e-12), 3)[..., 1:])


def _friction(motion: Motion) -> Array:
    """Return functions of each joint's velocity beside the linear law, shape (M, n, 4)."""
    v = motion[1] / np.maximum(np.abs(motion[1]).max(axis=0), 1e-12)
    return np.stack([np.tanh(v / 0.03), np.cbrt(v), v * np.abs(v), np.abs(v)], axis=2)


def _of_joints(columns: Array) -> Array:
    """Return columns (M, n, k) that act on their own joint only, shape (M, n, n k)."""
    count, joints, _ = columns.shape
    apart = np.eye(joints)[:, :, None] * columns[:, :, None, :]
    return np.asarray(apart.reshape(count, joints, -1))


_BESIDE = {'friction': _friction, 'springs': _springs}
_BRAKES = {'friction': (True, True, True, False), 'springs': (False, False, False)}
