"""Least squares among the robots that can exist, with the entropic (log-det) distance to a prior.

The distance of a link's pseudo-inertia P from that of the prior P0 is twice the Bregman divergence
of -log det (Lee, Wensing and Park, "Geometric robot dynamic identification: a convex programming
approach", 2020),

    d(P, P0) = 2 (tr(P P0^-1) - log det(P P0^-1) - 4).

It depends on neither frames nor units, is to second order the constant pullback metric of
`physical`, and grows without bound towards bodies that cannot exist. So it is its own barrier:
Newton's method, with the weight of the barrier lowered in stages, takes the place of a cone
solver. Rotor inertias and friction, which have no prior, are kept positive by a logarithm whose
weight goes on falling.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.physical.consistency import BASIS
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.urdf import ten_parameters

STAGES = tuple(10.0**-power for power in range(7))
"""Weights of the barrier, one after the other."""

_STEPS = 60
"""Of Newton's method per stage; some ten are needed."""

_SHORTEST = 1e-9
_ROUGH, _FINE = 0.1, 1e-6
"""Expected gain of a step, in units of the stage, that ends a stage, and the last one."""


@dataclass(frozen=True)
class Entropic:
    """Cost ||A x - b||^2 + weight * sum of d(link, prior) + sum of aside * x^2.

    :param matrix: A, shape (m, p)
    :param target: b, shape (m,)
    :param aside: shape (p,), not negative
    :param roots: a root (P0)^-1/2 of each link's prior, shape (l, 4, 4)
    :param links: the ten parameters of each link, shape (l, 10)
    :param positive: parameters that must not be negative
    """

    matrix: Array
    target: Array
    aside: Array
    roots: Array
    links: NDArray[np.intp]
    positive: NDArray[np.intp]

    def minimise(self, weight: float) -> Array:
        """Values (p,) of the smallest cost; every link can exist, no positive one is zero.

        :raises IdentificationError: the data are not finite
        """
        values = np.zeros(self.matrix.shape[1])
        for own, root in zip(self.links, self.roots, strict=True):
            values[own] = ten_parameters(np.linalg.inv(root.T @ root))
        values[self.positive] = 1.0
        for stage in STAGES:
            weights = (max(weight, stage), stage)
            values = self._newton(values, weights, stage * (_ROUGH, _FINE)[stage == STAGES[-1]])
        return values

    def cost(self, values: Array, weight: float, barrier: float = 0.0) -> float:
        """Cost of values (p,), and of the logarithms; infinite for what cannot exist."""
        size = np.linalg.eigvalsh(self._relative(values))
        single = values[self.positive]
        if size.min() <= 0.0 or (single <= 0.0).any():
            return float('inf')
        rest = self.matrix @ values - self.target
        distance = 2.0 * np.sum(size - np.log(size) - 1.0)
        aside = self.aside @ values**2
        return float(rest @ rest + aside + weight * distance - barrier * np.log(single).sum())

    def _newton(self, values: Array, weights: tuple[float, float], end: float) -> Array:
        """Damped steps until the next one is expected to gain less than `end`."""
        for _ in range(_STEPS):
            gradient, hessian = self._derivatives(values, weights)
            step = _step(gradient, hessian)
            gain, size = -float(gradient @ step), 1.0
            if gain < end:
                break
            cost = self.cost(values, *weights)
            while self.cost(values + size * step, *weights) > cost - 0.1 * size * gain:
                size /= 2.0
                if size < _SHORTEST:  # rounding: there is nothing left to gain
                    return values
            values = values + size * step
        return values

    def _derivatives(self, values: Array, weights: tuple[float, float]) -> tuple[Array, Array]:
        """Gradient (p,) and second derivatives (p, p) of the cost."""
        turned = np.linalg.inv(self._relative(values))[:, None] @ self._basis
        rest = self.matrix @ values - self.target
        gradient = 2.0 * (self.matrix.T @ rest + self.aside * values)
        hessian = 2.0 * (self.matrix.T @ self.matrix + np.diag(self.aside))
        slope = np.trace(self._basis - turned, axis1=2, axis2=3)
        curve = np.einsum('lkij,lmji->lkm', turned, turned)
        gradient[self.links] += 2.0 * weights[0] * slope
        hessian[self.links[:, :, None], self.links[:, None, :]] += 2.0 * weights[0] * curve
        gradient[self.positive] -= weights[1] / values[self.positive]
        hessian[self.positive, self.positive] += weights[1] / values[self.positive] ** 2
        return gradient, hessian

    def _relative(self, values: Array) -> Array:
        """(P0)^-1/2 P (P0)^-T/2 of each link, shape (l, 4, 4)."""
        result: Array = np.einsum('lk,lkij->lij', values[self.links], self._basis)
        return result

    @cached_property
    def _basis(self) -> Array:
        """What each of the ten parameters adds to `_relative`, shape (l, 10, 4, 4)."""
        roots = self.roots[:, None]
        result: Array = roots @ BASIS @ np.swapaxes(roots, -1, -2)
        return result


def _step(gradient: Array, hessian: Array) -> Array:
    """Newton's step (p,), with the parameters scaled to unit curvature."""
    unit = 1.0 / np.sqrt(np.diag(hessian))
    try:
        factor = cho_factor(hessian * unit * unit[:, None])
    except (LinAlgError, ValueError) as error:
        raise IdentificationError(
            'no physically consistent robot was found: the data are not finite'
        ) from error
    result: Array = -unit * cho_solve(factor, unit * gradient)
    return result
