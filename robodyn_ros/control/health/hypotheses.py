# SPDX-License-Identifier: Apache-2.0
"""Possible changes of a robot whose model no longer fits, each one a linear model.

The torque that the model lacks, feedback - model torque, is Y x for a payload, for a change of
friction, or for a change of torque gain and offset. Only the columns Y differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ModelError
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
from robodyn_ros.models.payload import PayloadModel

Columns = Callable[[Array, Array, Array], Array]
"""Regressor (N, n, k) of positions, velocities and accelerations (N, n)."""
SMOOTHING = 0.01
"""Velocity scale of the sign change of dry friction, in [rad/s] or [m/s]."""


class Cause(IntEnum):
    """Explanation of a torque error; the numbers are those of ModelHealth."""

    UNKNOWN = 0
    NONE = 1
    PAYLOAD = 2
    FRICTION = 3
    GAIN = 4


@dataclass(frozen=True)
class Hypothesis:
    """One explanation.

    :param width: number k of unknowns
    :param columns: regressor of the torque that the model lacks
    """

    cause: Cause
    width: int
    columns: Columns


def hypotheses_of(model: DynamicModel, torque: ModelTorque) -> tuple[Hypothesis, ...]:
    """Return the explanations that a model allows, from the fewest unknowns to the most."""
    others = [_friction(model), _gain(torque)]
    try:
        payload = PayloadModel(arm=model)
    except ModelError:
        return tuple(others)  # no room in this model for a payload: it cannot be told
    first = Hypothesis(Cause.PAYLOAD, len(payload.parameters), payload.regressor)
    return tuple(sorted((first, *others), key=lambda each: each.width))


def _friction(model: DynamicModel) -> Hypothesis:
    """Return a change of dry and viscous friction of each joint, n of each.

    The velocity scale is that of the identified friction, if it has one.
    """
    shapes = (
        part.coefficients['smoothing']
        for part, _ in parts_of(model)
        if isinstance(part, FrictionModel) and 'smoothing' in part.coefficients
    )
    change = FrictionModel(
        joints=model.joints,
        terms=('smooth_coulomb', 'viscous'),
        coefficients={'smoothing': next(shapes, SMOOTHING)},
    )
    return Hypothesis(Cause.FRICTION, len(change.parameters), change.regressor)


def _gain(torque: ModelTorque) -> Hypothesis:
    """Return a change of gain and offset of the torque feedback of each joint, n of each."""
    count = len(torque.joints)
    each = np.arange(count)

    def columns(q: Array, qd: Array, qdd: Array) -> Array:
        result = np.zeros((len(q), count, 2 * count))
        result[:, each, 2 * each] = torque.torque(q, qd, qdd)
        result[:, each, 2 * each + 1] = 1.0
        return result

    return Hypothesis(Cause.GAIN, 2 * count, columns)
