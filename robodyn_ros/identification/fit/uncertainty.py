# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of the torque on another motion, from the covariance of an estimate."""

from __future__ import annotations

import numpy as np

from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel


def random_states(model: DynamicModel, signals: Processed) -> tuple[Array, Array, Array]:
    """Return random q, qd, qdd (N, n): any position, every joint as fast as the fastest one.

    The fastest of rotary joints for those, and of linear ones for those: rad/s are no m/s.
    """
    unit = np.random.default_rng(0).uniform(-1.0, 1.0, size=(3, 200, len(model.joints)))
    linear = np.array([joint.type == 'prismatic' for joint in model.joints])
    alike = linear[:, None] == linear
    fastest = [
        np.max(alike * np.abs(values).max(axis=0), axis=1)
        for values in (signals.velocity, signals.acceleration)
    ]
    return model.positions(unit[0]), fastest[0] * unit[1], fastest[1] * unit[2]


def torque_uncertainty(
    model: DynamicModel, base: BaseParameters, fit: Estimate, signals: Processed
) -> Array:
    """Return the standard deviation of each joint's torque on any motion, relative to that torque.

    Root mean square of Y C Y^T over random states, C the covariance of the base values: any
    position, and every joint as fast as the fastest one of its kind was. A joint that hardly moved
    in the recording gets a large share although its recorded torque is explained well.

    :return: shape (n,); NaN where the recording leaves values undetermined
    """
    regressor = model.regressor(*random_states(model, signals))
    regressor = regressor[:, :, base.columns]
    variance = np.einsum('snb,bc,snc->n', regressor, fit.covariance, regressor)
    torque = np.sum((regressor @ fit.values) ** 2, axis=0)
    with np.errstate(invalid='ignore', divide='ignore'):
        return np.asarray(np.sqrt(variance / torque))
