# SPDX-License-Identifier: Apache-2.0
"""Least squares among consistent parameters, regularised towards a prior.

Minimise over all standard parameters p

    sum_j w_j^2 ||A_j K p - y_j||^2 + weight * d(p, prior)^2

with (A_j, y_j) the condensed factor of joint j, K the grouping into base parameters, every
link's pseudo-inertia positive definite with a small margin, and no rotor inertia, viscous or
Coulomb friction below zero. That is a semidefinite programme (Wensing, Kim and Slotine, "Linear
matrix inequalities for physically consistent inertial parameter identification", 2018).

The distance is the constant pullback metric of Lee, Wensing and Park, "Geometric robot dynamic
identification: a convex programming approach" (2020): sum over the links of
||L^-1 (P - P0) L^-T||_F^2, P0 = L L^T the prior pseudo-inertia. It does not depend on frames or
units, and is to second order twice the entropic (log-det) divergence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.condense import JointFactor
from robodyn_ros.identification.options import Prior
from robodyn_ros.identification.physical.consistency import (
    BASIS,
    Bodies,
    bodies_of,
    constraints,
    is_consistent,
    minimise,
    minimise_within,
    pack_matrices,
    scales,
    unit_of,
    within,
)
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.inertia import pseudo_inertia

WEAKEST = 1e-6
"""Weight of the prior that is always there: it decides what the data do not show."""

WEIGHTS = (1.0, 1e-1, 1e-2, 1e-3, WEAKEST)
"""Weights of the prior to choose from, the strongest first."""

_ASIDE = float(np.sqrt(np.finfo(float).eps))
"""Weight that draws parameters without a prior (friction, rotors) to zero: half the digits."""


def has_usable_inertials(model: DynamicModel) -> bool:
    """Return True if the prior gives every link a mass and an inertia that a body can have."""
    prior, links = np.nan_to_num(model.prior()), bodies_of(model).links
    for _, indices in links:
        ten = prior[list(indices)]
        if not ten[0] > 0.0:
            return False
        unit = unit_of(ten[0])
        # Rounding in files makes thin plates slightly impossible.
        scaled = unit @ pseudo_inertia(ten) @ unit
        if not np.isfinite(scaled).all() or np.linalg.eigvalsh(scaled).min() < -1e-3:
            return False
    return bool(links)


def plain_prior(model: DynamicModel) -> Array:
    """Return start values (p,) without a prior: links of 1 kg and 0.1 m radius."""
    values = np.zeros(len(model.parameters))
    for _, indices in bodies_of(model).links:
        values[list(indices)] = [1.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.02, 0.0, 0.0, 0.02]
    return values


def starting_prior(model: DynamicModel, prior: Prior) -> tuple[Array, bool]:
    """Return the values (p,) to draw to, and whether they are those of the URDF."""
    known = prior == 'urdf' and has_usable_inertials(model)
    return (np.nan_to_num(model.prior()) if known else plain_prior(model)), known


@dataclass(frozen=True)
class Problem:
    """Parts of the fits of a model that do not depend on the data.

    :param prior: shape (p,), finite
    :param scale: natural size of each parameter, shape (p,)
    :param metric: rows M with ||M (p - prior)|| the distance to the prior, shape (k, p)
    """

    model: DynamicModel
    grouping: Array
    prior: Array
    bodies: Bodies
    scale: Array
    metric: Array

    @classmethod
    def of(
        cls,
        model: DynamicModel,
        base: BaseParameters,
        prior: Array,
    ) -> Problem:
        """Build the problem of a model and a prior (p,)."""
        bodies = bodies_of(model)
        scale = scales(model, prior)
        return cls(
            model=model,
            grouping=base.grouping,
            prior=prior,
            bodies=bodies,
            scale=scale,
            metric=prior_metric(bodies, scale, prior),
        )

    @cached_property
    def constraints(self) -> tuple[list[Any], sparse.csc_matrix, Array]:
        """Cones, matrix A and right side b of: prior + scale * z is consistent."""
        bodies, directions = self.bodies, np.diag(self.scale)
        cones, rows, limits = constraints(
            bodies, self.scale, self.prior, directions, bodies.not_negative, bodies.shares
        )
        return cones, sparse.csc_matrix(rows), limits

    def solve(self, data: Data, weight: float) -> Array:
        """Return the consistent parameters (p,) that fit the data best.

        :param weight: of the squared distance to the prior, against the mean squared residual
            in units of its standard deviation; at least WEAKEST is used
        :raises IdentificationError: the solver finds none
        """
        # The residual of the best values is the same for all, so it is left out: the solver's
        # tolerances are then about what consistency costs.
        matrix = (data.triangle @ self.grouping) * self.scale
        target = data.triangle @ (data.values - self.grouping @ self.prior)
        metric = np.sqrt(max(weight, WEAKEST)) * self.metric * self.scale
        aside = np.full(len(self.scale), _ASIDE)
        quadratic = matrix.T @ matrix + metric.T @ metric + np.diag(aside)
        quick = self._solve_without_cones(quadratic, matrix.T @ target)
        if quick is not None:
            return quick
        cones, rows, limits = self.constraints
        solution = minimise(quadratic, -matrix.T @ target, rows, limits, cones)
        values: Array = self.prior + self.scale * np.array(solution.x)
        single = list(self.bodies.not_negative)
        values[single] = np.maximum(values[single], 0.0)
        if 'Solved' not in str(solution.status) or not is_consistent(self.model, values):
            raise IdentificationError(
                f'no physically consistent robot was found ({solution.status})'
            )
        return values

    @property
    def limits(self) -> tuple[Array, Array]:
        """Smallest and largest z (p,) of parameters that are not of links: prior + scale * z."""
        lower, upper = np.full((2, len(self.scale)), [[-np.inf], [np.inf]])
        lower[list(self.bodies.not_negative)] = 0.0
        upper[list(self.bodies.shares)] = 1.0
        return (lower - self.prior) / self.scale, (upper - self.prior) / self.scale

    def base_prior(self, weight: float) -> tuple[Array, Array]:
        """Return the prior as that of the base values: its mean (b,) and precision (b, b).

        A quadratic distance over all parameters with these base values is smallest at
        (x - mean)^T precision (x - mean).
        """
        rows = np.sqrt(max(weight, WEAKEST)) * self.metric * self.scale
        quadratic = rows.T @ rows + _ASIDE * np.eye(len(self.scale))
        grouping = self.grouping * self.scale
        covariance = grouping @ np.linalg.solve(quadratic, grouping.T)
        size = np.sqrt(np.diag(covariance))
        precision = np.linalg.inv(covariance / np.outer(size, size)) / np.outer(size, size)
        return self.grouping @ self.prior, precision

    def _solve_without_cones(self, quadratic: Array, linear: Array) -> Array | None:
        """Return the non-negative parameters (p,) of smallest cost; None: no link can be so."""
        single = np.array(self.bodies.not_negative, dtype=np.intp)
        lower, upper = self.limits
        z = minimise_within(quadratic, linear, lower, upper)
        _, rows, limits = self.constraints
        if z is None or not within(self.bodies, limits - rows @ z):
            return None
        values: Array = self.prior + self.scale * z
        values[single] = np.maximum(values[single], 0.0)
        return values if is_consistent(self.model, values) else None


@dataclass(frozen=True)
class Data:
    """Weighted least squares of all joints in small.

    :param triangle: R (b, b): ||R (x - values)||^2 is what base values x add to the smallest
        possible mean squared residual, in units of the residual's variance
    :param values: unconstrained base values, shape (b,)
    """

    triangle: Array
    values: Array

    @classmethod
    def of(cls, factors: Sequence[JointFactor], width: int, sigma: Array) -> Data:
        """Weigh each joint's rows by its residual standard deviation (n,)."""
        matrix, target = weigh_rows(factors, width, sigma)
        length = np.linalg.norm(matrix, axis=0)
        length[length == 0.0] = 1.0
        values = np.linalg.lstsq(matrix / length, target, rcond=1e-7)[0] / length
        return cls(triangle=np.asarray(np.linalg.qr(matrix, mode='r')), values=values)


def weigh_rows(factors: Sequence[JointFactor], width: int, sigma: Array) -> tuple[Array, Array]:
    """Return rows (A, y) of all joints; ||A x - y||^2 is the mean of (residual / sigma)^2."""
    total = max(sum(factor.samples for factor in factors), 1)
    rows = [factor.rows(width) for factor in factors]
    weights = 1.0 / (np.sqrt(total) * sigma)
    matrix = np.vstack([w * a for (a, _), w in zip(rows, weights, strict=True)])
    return matrix, np.concatenate([w * y for (_, y), w in zip(rows, weights, strict=True)])


def residual_sigma(factors: Sequence[JointFactor], base_values: Array) -> Array:
    """Return the RMS residual of each joint, shape (n,), not below a noise floor."""
    result = np.ones(len(factors))
    for joint, factor in enumerate(factors):
        if factor.samples:
            matrix, target = factor.rows(len(base_values))
            size = float(np.linalg.norm(matrix @ base_values - target))
            floor = max(1e-4 * factor.torque_norm, 1e-12)
            result[joint] = max(size, floor) / np.sqrt(factor.samples)
    return result


def prior_metric(bodies: Bodies, scale: Array, prior: Array) -> Array:
    """Return the rows M (10 l, p) of the distance to the prior, see the head of this file."""
    rows = np.zeros((10 * len(bodies.links), len(prior)))
    roots = prior_roots(bodies, scale, prior)
    for number, ((_, indices), root) in enumerate(zip(bodies.links, roots, strict=True)):
        link = list(indices)
        rows[10 * number : 10 * number + 10, link] = pack_matrices(root @ BASIS @ root.T).T
    return rows


def prior_roots(bodies: Bodies, scale: Array, prior: Array) -> Array:
    """Return a root (P0)^-1/2 of each link's thickened prior, shape (l, 4, 4)."""
    roots = np.zeros((len(bodies.links), 4, 4))
    for number, (_, indices) in enumerate(bodies.links):
        unit = unit_of(scale[indices[0]])
        size, axes = np.linalg.eigh(unit @ pseudo_inertia(prior[list(indices)]) @ unit)
        # A prior that is a rod or a point gives no information on the missing inertia.
        roots[number] = (axes / np.sqrt(np.maximum(size, 0.01))).T @ unit
    return roots
