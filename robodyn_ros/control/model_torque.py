"""Torque of an identified model, with friction made continuous around standstill."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.errors import ControlError
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, DynamicModel, SumModel

Part = tuple[DynamicModel, Array]
FrictionPart = tuple[FrictionModel, Array]


class ModelTorque:
    """tau(q, qd, qdd) of a model with its identified values, split into body and friction.

    Coulomb friction jumps by twice its value where the velocity changes sign. Within
    `velocity_window` around zero the friction torque therefore runs on a straight line between
    what the model says at both ends of the window (the constant offset at exactly zero). This
    holds for any friction law that depends on the joint's own velocity. Friction in proportion to
    a load is that load times such a law, which is made continuous in the same way.
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
        self._unloaded_terms = [
            item for part, own in self._friction for item in part.unloaded(own)
        ]
        window = np.broadcast_to(np.asarray(velocity_window, dtype=float), (len(self.joints),))
        if not (window >= 0.0).all() or not np.isfinite(window).all():
            raise ControlError(f'velocity_window must be finite and not below 0, got {window}')
        self._window = self.velocity_window = window
        self._per_window = 0.5 / np.where(window > 0.0, window, 1.0)
        # Without a window the jump itself: the sign of the smallest velocity there is.
        reach = np.maximum(window, np.finfo(float).tiny)
        self._ends = np.stack([-reach, reach])
        self._backward, self._range = np.zeros((2, len(self.joints)))
        self._backward_load, self._range_load = np.zeros((2, len(self.joints)))
        beyond = np.maximum(reach, _turned(self._friction, len(self.joints)))
        self._beyond = np.stack([-beyond, beyond])
        self._loads = [part for part, _ in self._friction if part.load is not None]
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
        backward, forward = self._unloaded(self._ends)
        self._backward[:], self._range[:] = backward, forward - backward
        if self._loads:
            backward, forward = self._per_load(self._ends)
            self._backward_load[:], self._range_load[:] = backward, forward - backward

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Joint torques, in [Nm] or [N]; all arguments and the result of shape (N, n), SI."""
        return self.body(q, qd, qdd) + self.friction(qd, self.load(q, qd, qdd))

    @property
    def friction_step(self) -> Array:
        """Half the friction jump from one direction to the other, shape (n,), in [Nm] or [N].

        Across the velocity window, or the velocities over which a smooth law turns round. That
        of friction without load; see `friction_step_per_load`.
        """
        backward, forward = self._unloaded(self._beyond)
        step: Array = np.abs(0.5 * (forward - backward))
        return step

    @property
    def friction_step_per_load(self) -> Array:
        """What each Nm (or N) of load adds to half the friction jump, shape (n,)."""
        backward, forward = self._per_load(self._beyond)
        step: Array = np.abs(0.5 * (forward - backward))
        return step

    def body(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torque of everything but friction; shapes and units as of `torque`."""
        return _evaluate(self._body, q, qd, qdd)

    def load(self, q: Array, qd: Array, qdd: Array) -> Array | None:
        """Load that friction is proportional to, shape (N, n), in [Nm] or [N]; None: none is.

        Shapes and units as of `torque`.
        """
        for part in self._loads:
            if part.load is not None:
                return part.load.torque(q, qd, qdd)
        return None

    def friction(self, qd: Array, load: Array | None = None) -> Array:
        """Friction torque, shape (N, n), in [Nm] or [N].

        :param qd: shape (N, n), in [rad/s] or [m/s]
        :param load: of the same samples, as `load` says; None: friction without load
        """
        slow = np.abs(qd) < self._window
        result = self._unloaded(qd)
        factor = None if load is None else self._per_load(qd)
        if slow.any():
            share = qd * self._per_window + 0.5
            np.copyto(result, self._backward + share * self._range, where=slow)
            if factor is not None:
                np.copyto(factor, self._backward_load + share * self._range_load, where=slow)
        if load is not None and factor is not None:
            result += factor * load
        return result

    def _unloaded(self, qd: Array) -> Array:
        """Friction of the model itself, without load, shape (N, n)."""
        result = np.zeros(qd.shape)
        for column, share in self._unloaded_terms:
            result += column(qd) * share
        return result

    def _per_load(self, qd: Array) -> Array:
        """Friction of the model itself that each Nm (or N) of load adds, shape (N, n)."""
        result = np.zeros(qd.shape)
        for part in self._loads:
            for other, values in self._friction:
                if other is part:
                    result += part.loaded_regressor(qd, 1.0) @ values
                    result -= part.loaded_regressor(qd, 0.0) @ values
        return result


def _turned(parts: list[FrictionPart], joints: int) -> Array:
    """Velocity from which on Coulomb friction has turned round, shape (n,); 0: at once."""
    smoothing = [part.figures['smoothing'] for part, _ in parts if 'smoothing' in part.figures]
    return np.asarray(3.0 * np.max([np.zeros(joints), *smoothing], axis=0))


def _split(model: DynamicModel, values: Array) -> tuple[list[Part], list[FrictionPart]]:
    """Body and friction parts with their values, sums taken apart at every level."""
    if isinstance(model, FrictionModel):
        return [], [(model, values)]
    if not isinstance(model, SumModel):
        return [(model, values)], []
    body: list[Part] = []
    friction: list[FrictionPart] = []
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
    if len(parts) == 1:  # the usual case, every cycle
        (part, values), *_ = parts
        return part.torque(q, qd, qdd, values)
    result = np.zeros(q.shape)
    for part, values in parts:
        result += part.torque(q, qd, qdd, values)
    return result
