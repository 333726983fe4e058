# SPDX-License-Identifier: Apache-2.0
"""Derivatives of weighted regressor sums by the state, for any dynamic model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, DynamicModel, SumModel, parts_of
from robodyn_ros.models.serial.chain import LinkTree
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part
from robodyn_ros.models.springs import SpringModel

STEP = 1e-6
"""Step of central differences, in state units: between truncation and rounding errors."""

Gradient = tuple[Array, Array, Array]
StateGradient = Callable[[Array, Array, Array, Array], Gradient]


def state_gradient(model: DynamicModel) -> StateGradient:
    """Return a function of (weights, q, qd, qdd) that differentiates the weighted regressor.

    It returns the derivatives of sum(weights * model.regressor(q, qd, qdd)) by q, qd and qdd, each
    (N, n); weights have the regressor's shape. URDF models, springs and friction without load are
    exact, others use central differences.
    """
    if isinstance(model, SumModel):
        return _of_sum(model)
    if isinstance(model, UrdfModel):
        return _of_urdf(model)
    if isinstance(model, FrictionModel) and model.load is None:
        return _of_friction(model)
    if isinstance(model, SpringModel):
        return _of_springs(model)
    return _by_differences(model)


def has_exact_gradient(model: DynamicModel) -> bool:
    """Return True if `state_gradient` needs no differences, which are many times slower."""
    return rigid_part(model) is not None


def _of_sum(model: SumModel) -> StateGradient:
    parts = [(state_gradient(part), place) for part, place in parts_of(model)]

    def gradient(weights: Array, q: Array, qd: Array, qdd: Array) -> Gradient:
        total = np.zeros((3, *q.shape))
        for part, place in parts:
            if weights[:, :, place].any():
                total += np.array(part(weights[:, :, place], q, qd, qdd))
        return total[0], total[1], total[2]

    return gradient


def _of_urdf(model: UrdfModel) -> StateGradient:
    chain, count = LinkTree(model), len(model.joints)

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
        # both points lie on the same side of a jump at zero as the state
        beyond, near = model.columns(qd + 2.0 * step), model.columns(qd + step)
        for index in range(terms):
            slope = (beyond[index] - near[index]) / step
            by_qd += weights[:, joints, joints * terms + index] * slope
        return np.zeros(q.shape), by_qd, np.zeros(qdd.shape)

    return gradient


def _of_springs(model: SpringModel) -> StateGradient:
    def gradient(weights: Array, q: Array, qd: Array, qdd: Array) -> Gradient:
        return model.stiffness(q, weights), np.zeros(qd.shape), np.zeros(qdd.shape)

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
