"""Torque of an identified model, with friction made continuous around standstill."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.errors import ControlError
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, DynamicModel, SumModel

Part = tuple[DynamicModel, Array]


class ModelTorque:
    """tau(q, qd, qdd) of a model with its identified values, split into body and friction.

    Coulomb friction jumps by twice its value where the velocity changes sign. Within
    `velocity_window` around zero the friction torque therefore runs on a straight line between
    what the model says at both ends of the window (the constant offset at exactly zero). This
    holds for any friction law that depends on the joint's own velocity.
    """

    def __init__(
        self, model: DynamicModel, values: Array, *, velocity_window: ArrayLike = 0.0
    ) -> None:
        """Split the model.

        :param values: parameter values, shape (p,), SI, in the order of `model.parameters`
        :param velocity_window: one number or shape (n,), in [rad/s] or [m/s]; 0: no smoothing
        :raises ControlError: values of the wrong number or not finite, or a negative window
        """
        self.joints = model.joint_names
        self._values = np.empty(len(model.parameters))
        self._body, self._friction = _split(model, self._values)  # views of these values
        window = np.broadcast_to(np.asarray(velocity_window, dtype=float), (len(self.joints),))
        if not (window >= 0.0).all() or not np.isfinite(window).all():
            raise ControlError(f'velocity_window must be finite and not below 0, got {window}')
        self._window = self.velocity_window = window
        self._per_window = 0.5 / np.where(window > 0.0, window, 1.0)
        # Without a window the jump itself: the sign of the smallest velocity there is.
        reach = np.maximum(window, np.finfo(float).tiny)
        self._ends = np.stack([-reach, reach])
        self._backward, self._range = np.zeros((2, len(self.joints)))
        self.set_values(values)

    def set_values(self, values: ArrayLike) -> None:
        """Take other parameter values, a payload for example, from the next call on.

        The arrays that the torque is computed from stay the same, and a call sees either the old
        values or the new ones. How fast the torque may follow is the rate limit's matter.

        :param values: shape (p,), SI
        :raises ControlError: values of the wrong number or not finite; the old ones then hold
        """
        values = np.asarray(values, dtype=float)
        if values.shape != self._values.shape or not np.isfinite(values).all():
            raise ControlError(
                f'the model needs {len(self._values)} finite parameter values, got '
                f'{np.count_nonzero(np.isfinite(values))} finite ones in shape {values.shape}'
            )
        self._values[:] = values
        backward, forward = _evaluate(self._friction, self._ends, self._ends, self._ends)
        self._backward[:], self._range[:] = backward, forward - backward

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Joint torques, in [Nm] or [N]; all arguments and the result of shape (N, n), SI."""
        return self.body(q, qd, qdd) + self.friction(qd)

    @property
    def friction_step(self) -> Array:
        """Half the friction jump across the velocity window, shape (n,), in [Nm] or [N]."""
        step: Array = np.abs(0.5 * self._range)
        return step

    def body(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torque of everything but friction; shapes and units as of `torque`."""
        return _evaluate(self._body, q, qd, qdd)

    def friction(self, qd: Array) -> Array:
        """Friction torque, shape (N, n), in [Nm] or [N].

        :param qd: shape (N, n), in [rad/s] or [m/s]
        """
        result = _evaluate(self._friction, qd, qd, qd)
        slow = np.abs(qd) < self._window
        if slow.any():
            line = self._backward + (qd * self._per_window + 0.5) * self._range
            np.copyto(result, line, where=slow)
        return result


def _split(model: DynamicModel, values: Array) -> tuple[list[Part], list[Part]]:
    """Body and friction parts with their values, sums taken apart at every level."""
    if isinstance(model, FrictionModel):
        return [], [(model, values)]
    if not isinstance(model, SumModel):
        return [(model, values)], []
    body: list[Part] = []
    friction: list[Part] = []
    start = 0
    for part in model.parts:
        end = start + len(part.parameters)
        part_body, part_friction = _split(part, values[start:end])
        body += part_body
        friction += part_friction
        start = end
    return body, friction


def _evaluate(parts: list[Part], q: Array, qd: Array, qdd: Array) -> Array:
    """Sum of the parts' torques, shape (N, n).

    Each part computes its own way: a regressor times values is not all of it where a force
    saturates, and recursion is faster.
    """
    result = np.zeros(q.shape)
    for part, values in parts:
        result += part.torque(q, qd, qdd, values)
    return result
