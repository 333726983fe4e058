# SPDX-License-Identifier: Apache-2.0
"""Torque of an identified model, with friction made continuous around standstill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn_ros.control.checks import per_joint
from robodyn_ros.errors import ControlError
from robodyn_ros.models.friction import FrictionModel, WeightedTerm
from robodyn_ros.models.friction_terms import Coefficients
from robodyn_ros.models.interface import Array, DynamicModel, TorqueFunction, parts_of
from robodyn_ros.models.springs import SlipTorque, SpringModel, slip_friction

Column = Callable[[Array, Coefficients], Array]

SLOWEST = float(1e6 * np.finfo(float).tiny)
"""Half width of the velocity window without smoothing, in [rad/s] or [m/s]: the smallest value for
which 1 / SLOWEST does not overflow at usual velocities."""


class ModelTorque:
    """tau(q, qd, qdd) of a model with its identified values, split into body and friction.

    Coulomb friction jumps by twice its value where the velocity changes sign. Within
    `velocity_window` around zero the friction torque is therefore a straight line between the
    model's values at both ends of the window (the constant offset at exactly zero). This holds
    for any friction law that depends on the joint velocity. Load-dependent friction is the load
    times such a law, which is made continuous in the same way.

    Arguments and results have shape (N, n), or (n,) for one sample, as in a control cycle.
    """

    def __init__(
        self, model: DynamicModel, values: Array, *, velocity_window: ArrayLike = 0.0
    ) -> None:
        """Split the model.

        :param values: parameter values, shape (p,), SI, in the order of `model.parameters`
        :param velocity_window: one number or shape (n,), in [rad/s] or [m/s]; 0: no smoothing
        :raises ControlError: a wrong number of values, values that are not finite, or a window
            that is negative or of other joints
        """
        self.joints = model.joint_names
        self.slips = model.slips
        self._model = model
        self._values = np.empty(len(model.parameters))
        split = [(part, self._values[place]) for part, place in parts_of(model)]
        self._body = [(part, slot) for part, slot in split if not isinstance(part, FrictionModel)]
        parts = [(part, slot) for part, slot in split if isinstance(part, FrictionModel)]
        count = len(self.joints)
        window = per_joint('velocity_window', velocity_window, self.joints, zero=True)
        self.velocity_window = window
        # Without a window, the jump lies between the smallest velocities.
        self._window = window = np.maximum(window, SLOWEST)
        terms = [item for part, slot in parts for item in part.list_terms(slot)]
        self._unloaded = _FrictionSum([item for item in terms if not item.term.load], window)
        self._per_load = _FrictionSum([item for item in terms if item.term.load], window)
        self._gravity_free: Array | None = None
        self._springs_of_sample: list[TorqueFunction] = []
        self._bodies = [partial(part.torque, values=slot) for part, slot in self._body]
        self._load = next((part.load for part, _ in parts if part.load is not None), None)
        self._load_of_sample = None if self._load is None else self._load.torque_function()
        self._beyond = np.maximum(window, _full_sign_velocity(parts, count))
        self.set_values(values)

    def set_values(self, values: ArrayLike) -> None:
        """Set other parameter values, for example of a payload, for the next calls.

        The arrays for the torque stay the same objects, and a call uses either the old values or
        the new ones.

        :param values: shape (p,), SI
        :raises ControlError: a wrong number of values, or values that are not finite; the old
            ones are then kept
        """
        self._values[:] = self._check_values(values)
        before = self._springs_of_sample
        self._bodies_of_sample = [part.torque_function(slot) for part, slot in self._body]
        self._springs_of_sample = [
            torque
            for (part, _), torque in zip(self._body, self._bodies_of_sample, strict=True)
            if isinstance(part, SpringModel)
        ]
        for old, new in zip(before, self._springs_of_sample, strict=False):
            if isinstance(old, SlipTorque) and isinstance(new, SlipTorque):
                new.continue_from(old)
        self._unloaded.renew()
        self._per_load.renew()

    @property
    def values(self) -> Array:
        """Copy of the parameter values in use, shape (p,), SI."""
        values: Array = self._values.copy()
        return values

    def _check_values(self, values: ArrayLike) -> Array:
        values = np.asarray(values, dtype=float)
        if values.shape != self._values.shape or not np.isfinite(values).all():
            raise ControlError(
                f'the model needs {len(self._values)} finite parameter values, got '
                f'{np.count_nonzero(np.isfinite(values))} finite ones in shape {values.shape}'
            )
        return values

    def exclude_gravity(self, where: ArrayLike) -> None:
        """Leave gravity out of `torque` and `body` of some joints: their drivers exclude it.

        The load of friction keeps gravity, which always loads the gears.

        :param where: joints without gravity, bool of shape (n,)
        """
        self._gravity_free = np.asarray(where, dtype=float) if np.any(where) else None

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute joint torques, in [Nm] or [N]; arguments SI."""
        return self.body(q, qd, qdd) + self.friction(qd, self.load(q, qd, qdd))

    def complete(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the torque with the gravity of all joints; units as of `torque`."""
        return self._complete_body(q, qd, qdd) + self.friction(qd, self.load(q, qd, qdd))

    @property
    def friction_step(self) -> Array:
        """Return half the friction jump between both directions, shape (n,), in [Nm] or [N].

        It is taken across the velocity window, or across the sign change of a smooth law, for
        friction without load; see `friction_step_per_load`. Slips that slide are part of it.
        """
        return self._unloaded.step(self._beyond) + slip_friction(self._model, self._values)

    @property
    def friction_step_per_load(self) -> Array:
        """Return the increase of half the friction jump per Nm (or N) of load, shape (n,)."""
        return self._per_load.step(self._beyond)

    def body(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the torque without friction; units as of `torque`."""
        result = self._complete_body(q, qd, qdd)
        if self._gravity_free is not None:
            still = np.zeros_like(q)
            weight = self._complete_body(q, still, still) - self.springs(q)
            result = result - self._gravity_free * weight
        return result

    def _complete_body(self, q: Array, qd: Array, qdd: Array) -> Array:
        return _sum(self._bodies if q.ndim > 1 else self._bodies_of_sample, q, qd, qdd)

    def springs(self, q: Array) -> Array:
        """Compute the torque of springs and slips, which no drive adds as gravity."""
        if q.ndim == 1:
            still = np.zeros_like(q)
            torques = [torque(q, still, still) for torque in self._springs_of_sample]
        else:
            torques = [
                part.at(q, slot) for part, slot in self._body if isinstance(part, SpringModel)
            ]
        return np.sum(torques, axis=0) if torques else np.zeros(q.shape)

    def load(self, q: Array, qd: Array, qdd: Array) -> Array | None:
        """Compute the load of load-dependent friction, in [Nm] or [N]; None: there is none."""
        if self._load is None or self._load_of_sample is None:
            return None
        return (self._load_of_sample if q.ndim == 1 else self._load.torque)(q, qd, qdd)

    def friction(self, qd: Array, load: Array | None = None) -> Array:
        """Compute the friction torque, in [Nm] or [N].

        :param qd: in [rad/s] or [m/s]
        :param load: result of `load` for the same samples; None: friction without load
        """
        slow = np.abs(qd) < self._window
        near = slow if np.count_nonzero(slow) else None
        result = self._unloaded.torque(qd, near)
        if load is not None:
            result += self._per_load.torque(qd, near) * load
        return result


class _FrictionSum:
    """Sum of friction terms by velocity, with a line inside the window; fast for one sample."""

    def __init__(self, terms: list[WeightedTerm], window: Array) -> None:
        self._fixed = [item for item in terms if item.term.constant]
        self._moving = [item for item in terms if not item.term.constant]
        self._weighted: list[tuple[Column, Coefficients, Array]] = []
        self._window = window
        self._per_window = 0.5 / window
        self._constant, self._backward, self._range = np.zeros((3, len(window)))

    def renew(self) -> None:
        """Update the weights."""
        self._constant[:] = sum(item.weight for item in self._fixed)
        self._weighted = [
            (item.term.column, item.coefficients, item.weight.copy()) for item in self._moving
        ]
        self._backward[:], forward = self._ends(self._window)
        np.subtract(forward, self._backward, out=self._range)

    def torque(self, qd: Array, near: NDArray[np.bool_] | None) -> Array:
        """Compute friction in the shape of `qd`; `near`: joints inside the window, None: none."""
        result = self._law(qd)
        if near is not None:
            share = qd * self._per_window + 0.5
            np.copyto(result, self._backward + share * self._range, where=near)
        return result

    def step(self, reach: Array) -> Array:
        """Return half the change between both directions at these velocities, shape (n,)."""
        backward, forward = self._ends(reach)
        step: Array = np.abs(0.5 * (forward - backward))
        return step

    def _ends(self, reach: Array) -> Array:
        """Compute friction at -reach and reach, shape (2, n)."""
        return self._law(np.stack([-reach, reach]))

    def _law(self, qd: Array) -> Array:
        result = np.empty(qd.shape)
        result[...] = self._constant
        for column, coefficients, weight in self._weighted:
            result += column(qd, coefficients) * weight
        return result


def _full_sign_velocity(parts: list[tuple[FrictionModel, Array]], joints: int) -> Array:
    """Return the velocity at which Coulomb friction has changed its sign, shape (n,)."""
    smoothing = [
        part.coefficients['smoothing'] for part, _ in parts if 'smoothing' in part.coefficients
    ]
    return np.asarray(3.0 * np.max([np.zeros(joints), *smoothing], axis=0))


def _sum(parts: Sequence[TorqueFunction], q: Array, qd: Array, qdd: Array) -> Array:
    """Add the torques that the parts compute: regressors are slower and cannot saturate."""
    if len(parts) == 1:  # the usual case
        return parts[0](q, qd, qdd)
    result = np.zeros(q.shape)
    for part in parts:
        result += part(q, qd, qdd)
    return result
