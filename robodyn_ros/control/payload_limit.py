# SPDX-License-Identifier: Apache-2.0
"""Largest payload that a robot accepts.

A payload that is too heavy for the robot is an error of units, and its gravity torque is unsafe.
The largest mass is a parameter, or follows from the effort limits: every joint must be able to

- hold the arm and the payload at its worst pose within the joint limits, and
- accelerate the payload alone with 9.81 m/s^2 at the robot's reach.

With a given largest mass, a payload may have this mass, and the first moment and inertia of this
mass at the reach of the robot.

Mass and inertia must be those of one body: its radius of gyration about the centre of mass is at
most the reach, or 0.3 m for small robots, which no tool or workpiece attains. An identified mass
may be wrong by three standard deviations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import GRAVITY, Array
from robodyn_ros.models.payload import Payload, PayloadModel
from robodyn_ros.models.serial.urdf import joint_limits

STARTS, SHARES, SWEEPS = 8, 13, 3
"""Search for the worst pose: start poses for each joint, positions of each joint that are tried in
turn, and number of sweeps."""
_BODY = 0.3
"""Radius of gyration of a payload that every robot may carry, in [m]."""
_FREE = 1e-9
"""Torque per mass below which a payload has no effect on a joint, in [Nm/kg] or [N/kg]."""


class PayloadLimit:
    """Check of payloads against the robot; made once, because it searches for the worst poses."""

    def __init__(
        self,
        model: PayloadModel,
        values: Array,
        *,
        effort: Sequence[float] | Array | None = None,
        max_payload: float = 0.0,
    ) -> None:
        """Find the worst poses.

        :param values: parameter values of the robot without payload, shape (p,), SI
        :param effort: effort limits, shape (n,), in [Nm] or [N]; None: not known
        :param max_payload: largest mass, in [kg]; 0: that of the effort limits
        :raises ControlError: a negative or infinite max_payload
        """
        if not (np.isfinite(max_payload) and max_payload >= 0.0):
            raise ControlError(f'max_payload must be 0 kg or more, got {max_payload}')
        self._model, self._values, self._given = model, values, max_payload
        self._effort = None if effort is None else np.asarray(effort, dtype=float)
        self._joints = [joint.name for joint in model.joints]
        self._turning = np.array([joint.type != 'prismatic' for joint in model.joints])
        limits = self._effort if self._effort is not None else np.ones(len(self._joints))
        self._arm, self._per_mass = self._worst(limits)
        self._lever = self._levers()
        self.reach = float(self._lever.max(initial=0.0)) or 1.0

    def check(self, payload: Payload) -> None:
        """Raise a ControlError if a payload is too large; it says what to do."""
        if not np.any(payload.added):
            return
        with np.errstate(all='ignore'):  # 1e308 kg overflows and is refused like any other mass
            self._check(*payload.size)
            self._check_body(payload)

    def _check_body(self, payload: Payload) -> None:
        """Refuse a negative mass, or more inertia than a body of this mass can have."""
        _, moment, inertia = payload.size
        doubt = 0.0 if payload.stddevs is None else 3.0 * float(payload.stddevs[0])
        mass = payload.mass + doubt  # NaN: the model does not have it
        if mass < 0.0:
            raise ControlError(f'the payload has a negative mass: {payload.mass:.4g} kg')
        # Parallel axes, with the largest row sum of an inertia in place of its largest moment.
        most = (mass * max(self.reach, _BODY)) ** 2 + 2.0 * moment**2
        if inertia * mass > most or (inertia > 0.0 and mass == 0.0):
            raise ControlError(
                f'no body of {mass:.4g} kg that a robot with a reach of {self.reach:.3g} m '
                f'carries has an inertia of {inertia:.4g} kg m^2: check the unit'
            )

    def _check(self, mass: float, moment: float, inertia: float) -> None:
        if self._given:
            self._check_given(mass, moment, inertia)
        elif self._effort is None:
            raise ControlError(
                'max_payload is not known: the robot has no effort limits. Set the parameter '
                'max_payload (kg)'
            )
        else:
            self._check_effort(mass, moment, inertia, self._effort)

    def _check_given(self, mass: float, moment: float, inertia: float) -> None:
        most, reach = self._given, self.reach
        rule = f' (max_payload {most:.4g} kg at {reach:.3g} m)'
        for value, limit, what, name, unit in (
            (mass, most, 'payload', 'max_payload', 'kg'),
            (moment, most * reach, "payload's first moment", 'its limit', 'kg m'),
            (inertia, most * reach**2, "payload's inertia", 'its limit', 'kg m^2'),
        ):
            if not value <= limit * (1.0 + 1e-9):
                raise ControlError(
                    f'{what} of {value:.4g} {unit} is above {name} of {limit:.4g} {unit}'
                    f'{"" if what == "payload" else rule}: check the unit, or raise max_payload'
                )

    def _check_effort(self, mass: float, moment: float, inertia: float, effort: Array) -> None:
        # per unit of the payload: products with 1e308 kg overflow, and the limit would be 0 kg
        size = mass or inertia or 1.0
        mass, moment, inertia = mass / size, moment / size, inertia / size
        held = self._per_mass * mass + GRAVITY * moment * self._turning
        free = effort - self._arm
        spared = np.where(held > _FREE, free / np.maximum(held, _FREE), np.inf)
        share = spared.min(axis=0)
        if (free.min(axis=0) <= 0.0).any():
            joint = int(free.min(axis=0).argmin())
            raise ControlError(
                f'max_payload is not known: joint {self._joints[joint]} needs '
                f'{self._arm[:, joint].max():.4g} for the arm alone, its effort limit is '
                f'{effort[joint]:.4g}. Set the parameter max_payload (kg)'
            )
        turned = mass * self._lever**2 + 2.0 * moment * self._lever + inertia
        moved = np.where(self._turning, turned / self.reach, mass) * GRAVITY
        share = np.minimum(share, effort / np.maximum(moved, _FREE))
        joint = int(share.argmin())
        if not share[joint] >= size * (1.0 - 1e-9):
            raise ControlError(
                _too_large(mass, moment, inertia, size, share[joint], self._joints[joint])
            )

    def _body(self, q: Array, values: Array, qdd: Array | None = None) -> Array:
        still = np.zeros_like(q)
        return self._model.body_torque(q, still, still if qdd is None else qdd, values)

    def _gravity(self, q: Array) -> tuple[Array, Array]:
        """Return the absolute gravity torque of the arm, and of a payload per kg, (N, n) each."""
        arm = self._body(q, self._values)
        loaded = self._body(q, self._values + self._model.unit_mass)
        return np.abs(arm), np.abs(loaded - arm)

    def _worst(self, effort: Array) -> tuple[Array, Array]:
        """Return the gravity torques at the worst pose of each joint, shape (N, n) each."""
        count = len(self._joints)
        low, high = joint_limits(self._model.arm).T
        goal = np.repeat(np.arange(count), STARTS)
        poses = low + (high - low) * start_shares(len(goal), count)
        rows = np.arange(len(goal))
        for _ in range(SWEEPS):
            for joint in range(count):
                tried = np.repeat(poses[:, None], SHARES, axis=1)
                tried[:, :, joint] = np.linspace(low[joint], high[joint], SHARES)
                arm, load = self._gravity(tried.reshape(-1, count))
                room = (effort - arm) / np.maximum(load, _FREE)
                best = room.reshape(len(goal), SHARES, count)[rows, :, goal].argmin(axis=1)
                poses[:, joint] = tried[rows, best, joint]
        return self._gravity(poses)

    def _levers(self) -> Array:
        """Return the largest distance of a payload from each rotary joint, shape (n,), in [m]."""
        count = len(self._joints)
        low, high = joint_limits(self._model.arm).T
        poses = low + (high - low) * start_shares(100, count)
        result = np.zeros(count)
        unit = self._values + self._model.unit_mass
        rest = self._body(poses, unit) - self._body(poses, self._values)
        for joint in np.flatnonzero(self._turning):
            qdd = np.zeros_like(poses)
            qdd[:, joint] = 1.0
            moved = self._body(poses, unit, qdd) - self._body(poses, self._values, qdd) - rest
            result[joint] = np.sqrt(np.maximum(moved[:, joint], 0.0).max())
        return np.where(result > 1e-4, result, 0.0)  # 0.1 mm: the payload is on the axis


def start_shares(count: int, width: int) -> Array:
    """Return evenly spread poses as shares of the joints' ranges, shape (count, width).

    They are Richtmyer's sequence, multiples of the roots of primes, and thus reproducible.
    """
    primes = [2, 3]
    while len(primes) < width:
        primes.append(next(
            item for item in range(primes[-1] + 2, 2 * primes[-1], 2)
            if all(item % prime for prime in primes)
        ))  # fmt: skip
    roots = np.sqrt(np.array(primes[:width], dtype=float))
    shares: Array = np.mod(np.arange(1, count + 1)[:, None] * roots, 1.0)
    return shares


def _too_large(
    mass: float, moment: float, inertia: float, size: float, share: float, joint: str
) -> str:
    """Return a message about a payload per unit, the number of units, and the possible number."""
    if not mass > 0.0:
        return (
            f"the payload's inertia of {inertia * size:.4g} kg m^2 is above its limit of "
            f'{share * inertia:.4g} kg m^2, at which joint {joint} reaches its effort limit: '
            f'check the unit, or set max_payload'
        )
    shape = ' with its centre of mass and inertia' if moment > 0.0 or inertia > 0.0 else ''
    return (
        f'payload of {mass * size:.4g} kg{shape} is above max_payload of {share * mass:.4g} kg, '
        f'at which joint {joint} reaches its effort limit: check the unit, or set max_payload'
    )
