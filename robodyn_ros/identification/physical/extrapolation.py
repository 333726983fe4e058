# SPDX-License-Identifier: Apache-2.0
"""Random states of a robot, and the uncertainty of its torque there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel


def random_states(model: DynamicModel, signals: Processed) -> tuple[Array, Array, Array]:
    """Return random q, qd, qdd (N, n): any position, as fast as the fastest joint of a type."""
    unit = np.random.default_rng(0).uniform(-1.0, 1.0, size=(3, 200, len(model.joints)))
    linear = np.array([joint.type == 'prismatic' for joint in model.joints])
    alike = linear[:, None] == linear
    fastest = [
        np.max(alike * np.abs(values).max(axis=0), axis=1)
        for values in (signals.velocity, signals.acceleration)
    ]
    return model.positions(unit[0]), fastest[0] * unit[1], fastest[1] * unit[2]


def random_states_of(
    model: DynamicModel, signals: Processed, rests: Sequence[bool]
) -> tuple[Array, Array, Array]:
    """Return `random_states` with the joints that rest where they are."""
    q, qd, qdd = random_states(model, signals)
    still = np.asarray(rests, dtype=bool)
    q[:, still], qd[:, still], qdd[:, still] = signals.position[0, still], 0.0, 0.0
    return q, qd, qdd


def torque_uncertainty(
    model: DynamicModel, base: BaseParameters, fit: Estimate, signals: Processed
) -> Array:
    """Return the standard deviation of each joint's torque on any motion, relative to that torque.

    Root mean square of Y C Y^T over random states, C the covariance of the base values.

    :return: shape (n,); NaN where the recording leaves values undetermined
    """
    regressor = model.regressor(*random_states(model, signals))
    regressor = regressor[:, :, base.columns]
    variance = np.einsum('snb,bc,snc->n', regressor, fit.covariance, regressor)
    torque = np.sum((regressor @ fit.values) ** 2, axis=0)
    with np.errstate(invalid='ignore', divide='ignore'):
        return np.asarray(np.sqrt(variance / torque))


def average_products(
    model: DynamicModel, base: BaseParameters, states: tuple[Array, Array, Array]
) -> list[Array]:
    """Return the mean product of the rows of each joint on states, shapes (b, b)."""
    rows = model.select_columns(*states, base.columns)
    return [rows[:, joint].T @ rows[:, joint] / len(rows) for joint in range(rows.shape[1])]
