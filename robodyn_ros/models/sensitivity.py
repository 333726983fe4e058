"""How a weighted sum of regressor entries changes with the state, for any dynamic model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, DynamicModel, SumModel
from robodyn_ros.models.serial.chain import Chain
from robodyn_ros.models.serial.urdf import UrdfModel

STEP = 1e-6
"""Step of the differences taken where no exact derivative is at hand, in state units."""

Gradient = tuple[Array, Array, Array]
StateGradient = Callable[[Array, Array, Array, Array], Gradient]


def state_gradient(model: DynamicModel) -> StateGradient:
    """Return a function of (weights, q, qd, qdd) that gives the derivatives of
    sum(weights * model.regressor(q, qd, qdd)) by q, qd and qdd, each of shape (N, n).

    Weights are of the regressor's shape (N, n, p). URDF models and friction without load are exact
    (at a velocity of zero the derivative of friction is that of its positive side), other models
    by central differences.
    """  # noqa: D205
    if isinstance(model, SumModel):
        return _of_sum(model)
    if isinstance(model, UrdfModel):
        return _of_urdf(model)
    if isinstance(model, FrictionModel) and model.load is None:
        return _of_friction(model)
    return _by_differences(model)


def has_exact_gradient(model: DynamicModel) -> bool:
    """Tell whether `state_gradient` takes no differences, which are many times slower."""
    parts = model.parts if isinstance(model, SumModel) else (model,)
    return any(isinstance(part, UrdfModel) for part in parts)


def _of_sum(model: SumModel) -> StateGradient:
    parts = [state_gradient(part) for part in model.parts]
    ends = np.cumsum([0, *(len(part.parameters) for part in model.parts)])

    def gradient(weights: Array, q: Array, qd: Array, qdd: Array) -> Gradient:
        total = np.zeros((3, *q.shape))
        for part, first, last in zip(parts, ends[:-1], ends[1:], strict=True):
            if weights[:, :, first:last].any():
                total += np.array(part(weights[:, :, first:last], q, qd, qdd))
        return total[0], total[1], total[2]

    return gradient


def _of_urdf(model: UrdfModel) -> StateGradient:
    chain, count = Chain(model), len(model.joints)

    def gradient(weights: Array, q: Array, qd: Array, qdd: Array) -> Gradient:
        by_q, by_qd, by_qdd = chain.gradient(weights[:, :, : 10 * count], q, qd, qdd)
        if model.rotor_inertia:
            by_qdd = by_qdd + np.einsum('kjj->kj', weights[:, :, 10 * count :])
        return by_q, by_qd, by_qdd

    return gradient


def _of_friction(model: FrictionModel) -> StateGradient:
    joints, terms = np.arange(len(model.joints)), len(model.terms)

    def gradient(weights: Array, q: Array, qd: Array, qdd: Array) -> Gradient:
        by_qd = np.zeros(qd.shape)
        step = np.where(qd < 0.0, -STEP, STEP)
        # both points lie beyond the state, on its own side of a jump at zero
        beyond, near = model.columns(qd + 2.0 * step), model.columns(qd + step)
        for index in range(terms):
            slope = (beyond[index] - near[index]) / step
            by_qd += weights[:, joints, joints * terms + index] * slope
        return np.zeros(q.shape), by_qd, np.zeros(qdd.shape)

    return gradient


def _by_differences(model: DynamicModel) -> StateGradient:
    def gradient(weights: Array, q: Array, qd: Array, qdd: Array) -> Gradient:
        state = np.stack([q, qd, qdd])
        result = np.empty(state.shape)
        for quantity, joint in np.ndindex(3, q.shape[1]):
            sides = []
            for step in (STEP, -STEP):
                moved = state.copy()
                moved[quantity, :, joint] += step
                sides.append(model.regressor(*moved))
            change = np.einsum('kij,kij->k', weights, sides[0] - sides[1])
            result[quantity, :, joint] = change / (2.0 * STEP)
        return result[0], result[1], result[2]

    return gradient
