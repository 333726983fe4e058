# SPDX-License-Identifier: Apache-2.0
"""Position, velocity and acceleration limits, met by scaling each joint's deviation.

The gauge of a joint is the largest of the shares of its limits that its deviation uses. Dividing
the deviation by a gauge above 1 keeps every limit, so that an optimiser needs no constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.family import FourierFamily, MotionFamily
from robodyn_ros.excitation.limits.joint_limits import (
    CHECK_PERIOD,
    JointLimits,
    blocks,
    rise_between,
)
from robodyn_ros.excitation.trajectory import Array, Trajectory

Pull = Callable[[Array], Array]
QUANTITIES = ('position', 'velocity', 'acceleration')


@dataclass(frozen=True)
class Margins:
    """Unused shares of the limits, in [0, 1); those of positions refer to half the range."""

    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0
    torque: float = 0.0

    def __post_init__(self) -> None:
        """Check.

        :raises MotionError: a share outside [0, 1)
        """
        for item in fields(self):
            value = getattr(self, item.name)
            if not 0.0 <= value < 1.0:
                raise MotionError(f'the {item.name} margin must be in [0, 1), got {value}')

    def narrow(self, limits: JointLimits) -> JointLimits:
        """Return the limits without the margins."""
        width = limits.upper - limits.lower
        inset = self.position * np.where(np.isfinite(width), width, 0.0) / 2.0
        return replace(
            limits,
            lower=limits.lower + inset,
            upper=limits.upper - inset,
            velocity=limits.velocity * (1.0 - self.velocity),
            acceleration=limits.acceleration * (1.0 - self.acceleration),
            effort=limits.effort * (1.0 - self.torque),
        )


@dataclass(frozen=True)
class Room:
    """Largest deviations of each joint, shapes (n,); infinite without a limit.

    Above and below the position in [rad] or [m], and in velocity and acceleration.
    """

    above: Array
    below: Array
    velocity: Array
    acceleration: Array

    @classmethod
    def around(cls, position: Array, limits: JointLimits) -> Room:
        """Compute the room around a position (n,).

        :raises MotionError: a joint without room (its limit is named), or without any limit
        """
        room = cls(
            limits.upper - position, position - limits.lower, limits.velocity, limits.acceleration
        )
        for index, name in enumerate(limits.joints):
            least = min(room.above[index], room.below[index])
            unit = limits.units[index]
            if not least > 0.0:
                raise MotionError(
                    f'joint {name!r} has no room to move around {position[index]:.4g} {unit}: its '
                    f'position limits, less position_margin, are {limits.lower[index]:.4g} to '
                    f'{limits.upper[index]:.4g} {unit}'
                )
            if np.isinf([least, room.velocity[index], room.acceleration[index]]).all():
                raise MotionError(f'nothing limits the motion of joint {name!r}')
        return room

    def of(self, deviation: Array) -> Array:
        """Return the room (3, N, n) in the direction of a deviation (3, N, n)."""
        position = np.where(deviation[0] < 0.0, self.below, self.above)
        others = np.broadcast_arrays(self.velocity, self.acceleration, position)[:2]
        return np.stack([position, *others])


class GridBounds:
    """Joint limits on a grid of times."""

    def __init__(self, family: MotionFamily, room: Room) -> None:
        """Prepare the grid, ten times finer than the fastest oscillation."""
        count = int(np.ceil(max(200.0, 20.0 * family.fastest() * family.duration)))
        self._sampled = family.prepare(np.linspace(0.0, family.duration, count + 1))
        self._room = room

    def gauge(self, x: Array, hardness: float) -> tuple[Array, Pull]:
        """Return the gauge of each joint (n,), at least 1, and its derivative for weights (n,).

        The largest share is replaced by the p-norm of all shares, p = `hardness`, which is larger.
        """
        deviation = self._sampled.deviation(x)
        shares = deviation / self._room.of(deviation)
        size = np.abs(shares).reshape(-1, shares.shape[2])
        value, slope = _norm(size, hardness)

        def pull(weights: Array) -> Array:
            by_share = (slope * weights).reshape(shares.shape) * np.sign(shares)
            return self._sampled.pull(x, by_share / self._room.of(deviation))

        return value, pull


class ConservativeBounds:
    """Sufficient bounds on the coefficients of a Fourier series, for all times.

    Document "double_encoder_identification_2023", Eq. 17: with r_l = sqrt(a_l^2 + b_l^2), the
    sums of r_l / (w l) plus |theta_0|, of r_l, and of w l r_l must be within the limits.
    """

    def __init__(self, family: FourierFamily, room: Room) -> None:
        """Store family and room, with the nearer one of two position limits."""
        self._family = family
        self._limits = np.array(
            [np.minimum(room.above, room.below), room.velocity, room.acceleration]
        )
        self._powers = np.array([1.0 / family.omega, np.ones(family.harmonics), family.omega])

    def shares(self, x: Array) -> Array:
        """Return the shares (3, n) of the limits that the bounds use."""
        a, b = self._family.coefficients(x)
        sums = self._powers @ np.hypot(a, b).T
        sums[0] += np.abs(b @ self._powers[0])
        return np.asarray(sums / self._limits)

    def gauge(self, x: Array, hardness: float) -> tuple[Array, Pull]:
        """Return the same as `GridBounds.gauge`."""
        a, b = self._family.coefficients(x)
        value, slope = _norm(self.shares(x), hardness)

        def pull(weights: Array) -> Array:
            by_sum = slope * weights / self._limits
            by_size = (by_sum.T @ self._powers) / np.maximum(np.hypot(a, b), 1e-12)
            offset = (by_sum[0] * np.sign(b @ self._powers[0]))[:, None] * self._powers[0]
            by_a, by_b = by_size * a, by_size * b + offset
            rows = [by_a @ self._family.a_space, by_b @ self._family.b_space]
            return np.hstack(rows).ravel()

        return value, pull


Bounds = GridBounds | ConservativeBounds


def compute_shares(trajectory: Trajectory, limits: JointLimits) -> dict[str, Array]:
    """Compute the share of each limit that a motion uses, by quantity, shape (n,).

    For positions it is the share of the distance from the start of the motion to the limit. The
    grid is 1 ms (finer for a short motion); the rise between samples is included.
    """
    limits = limits.select(trajectory.joints)
    start = trajectory.sample(np.zeros(1)).position[0]
    result = {name: np.zeros(len(limits.joints)) for name in QUANTITIES}
    for block in blocks(trajectory, min(CHECK_PERIOD, trajectory.duration / 200.0)):
        for name in QUANTITIES:
            values: Array = getattr(block, name)
            extra = rise_between(values)
            if name == 'position':
                up = (values - start + extra) / (limits.upper - start)
                share = np.maximum(up, (start - values + extra) / (start - limits.lower))
            else:
                share = (np.abs(values) + extra) / getattr(limits, name)
            result[name] = np.maximum(result[name], share.max(axis=0))
    return result


def scale_within(
    family: MotionFamily, x: Array, limits: JointLimits, start: Array | None = None
) -> Array:
    """Return the scale (n,) with which the motion of x keeps the limits at all times.

    :param start: largest scale (n,); None: ones
    """
    scale = np.ones(len(family.joints)) if start is None else start
    for _ in range(2):  # the second iteration corrects rounding and the rise between samples
        used = compute_shares(family.motion(x, scale), limits)
        worst = np.max([used[name] for name in QUANTITIES], axis=0) * (1.0 + 1e-9)
        scale = scale / np.maximum(worst, 1.0)
    return scale


def _norm(shares: Array, hardness: float) -> tuple[Array, Array]:
    """Return the p-norm of 1 and the positive shares (M, n), and its derivative by them."""
    largest = np.maximum(shares.max(axis=0), 1.0)
    total = largest**-hardness + ((shares / largest) ** hardness).sum(axis=0)
    value = largest * total ** (1.0 / hardness)
    return value, (shares / value) ** (hardness - 1.0)
