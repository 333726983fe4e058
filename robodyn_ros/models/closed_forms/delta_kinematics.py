# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a DELTA robot: pose and motion of the platform as functions of the arms.

z points up. Arm i lies in the vertical plane at phi_i = 0, 120, 240 degrees, its angle is 0 when
horizontal and counts downwards.

The formulas are written for single numbers: see `closed_form.components`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.closed_forms.closed_form import Number, components, functions
from robodyn_ros.models.interface import Array
from robodyn_ros.schema import Finite, Positive

Vector = tuple[Number, Number, Number]

_OUTWARDS = tuple((math.cos(k * math.tau / 3), math.sin(k * math.tau / 3)) for k in range(3))
"""Horizontal direction e_i of each arm."""
ARMS = len(_OUTWARDS)


@dataclass(frozen=True)
class DeltaGeometry:
    """Lengths [m] of a delta robot.

    R_b: from the base's centre to the arms' axes, r_p: from the platform's centre to the rods,
    L_AB: arm, L_BC: rod.
    """

    R_b: Finite
    r_p: Finite
    L_AB: Positive
    L_BC: Positive


@dataclass(frozen=True)
class ShaftGeometry(DeltaGeometry):
    """Lengths of a delta robot with four axes, with the height [m] of the shaft's upper joint."""

    h_O: Finite  # noqa: N815 (name of the softMC document)


@dataclass(frozen=True)
class DeltaMotion:
    """Motion of platform and elbows.

    :param x: platform centre, with velocity `xd` and acceleration `xdd`
    :param slopes: derivative of x by each arm's angle: the columns of J
    :param b: velocity of each elbow per arm velocity
    :param elbow: acceleration of each elbow
    """

    x: Vector
    xd: Vector
    xdd: Vector
    slopes: tuple[Vector, ...]
    b: tuple[Vector, ...]
    elbow: tuple[Vector, ...]


def dot(a: Vector, b: Vector) -> Number:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def combine(one: Number, a: Vector, two: Number, b: Vector) -> Vector:
    """Return one a + two b."""
    return one * a[0] + two * b[0], one * a[1] + two * b[1], one * a[2] + two * b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(factor: Number, a: Vector) -> Vector:
    """Return a vector with a factor."""
    return factor * a[0], factor * a[1], factor * a[2]


def total(vectors: Sequence[Vector]) -> Vector:
    """Add the vectors of the three arms."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = vectors
    return ax + bx + cx, ay + by + cy, az + bz + cz


def forward_kinematics(geometry: DeltaGeometry, theta: Array) -> Array:
    """Return the centre of the platform, below the elbows.

    :param theta: arm angles, shape (N, 3), in [rad]
    :return: shape (N, 3), in [m]
    :raises ModelError: angles at which the rods cannot meet at the platform
    """
    _, _, centres = _arms(geometry, components(theta))
    result = np.empty((len(theta), 3))
    result.T[...] = np.reshape(_platform(geometry, centres, components(theta)), (3, -1))
    return result


def delta_motion(
    geometry: DeltaGeometry,
    theta: Sequence[Number],
    thetad: Sequence[Number],
    thetadd: Sequence[Number],
) -> DeltaMotion:
    """Compute the motion of platform and elbows from the components of each arm's motion.

    :param theta: arm angles in [rad]; with velocities and accelerations
    :raises ModelError: angles at which the rods cannot meet at the platform
    """
    b, slope, centres = _arms(geometry, theta)
    x = _platform(geometry, centres, theta)
    rods = [minus(x, centre) for centre in centres]
    sides = cross(rods[1], rods[2]), cross(rods[2], rods[0]), cross(rods[0], rods[1])
    share = 1.0 / dot(rods[0], sides[0])
    leverage = [share * dot(rod, lever) for rod, lever in zip(rods, b, strict=True)]
    slopes = tuple(times(factor, side) for factor, side in zip(leverage, sides, strict=True))
    xd = total([times(rate, lever) for rate, lever in zip(thetad, slopes, strict=True)])
    elbow, parts = [], []
    for i in range(ARMS):
        centripetal = times(thetad[i] * thetad[i], slope[i])
        swing = combine(1.0, xd, -thetad[i], b[i])
        pulled = share * (dot(rods[i], centripetal) - dot(swing, swing))
        parts.append(times(pulled + leverage[i] * thetadd[i], sides[i]))
        elbow.append(combine(thetadd[i], b[i], 1.0, centripetal))
    return DeltaMotion(x, xd, total(parts), slopes, tuple(b), tuple(elbow))


def working_range(geometry: DeltaGeometry) -> tuple[float, float]:
    """Return a range of arm angles [rad] without singularities or unreachable combinations.

    It is an interval around the best conditioned equal angles of all arms, smaller than the
    complete work space.

    :raises ModelError: the geometry allows no motion
    """
    common = np.linspace(-1.2, 1.4, 53)
    quality = _dexterity(geometry, np.repeat(common[:, None], ARMS, axis=1))
    centre, best = common[quality.argmax()], quality.max()
    corners = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * ARMS), axis=-1).reshape(-1, ARMS)
    for half in (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05):
        if best > 0.0 and _dexterity(geometry, centre + half * corners).min() > 0.2 * best:
            return float(centre - half), float(centre + half)
    raise ModelError(
        f'a delta with R_b {geometry.R_b:g} m, r_p {geometry.r_p:g} m, L_AB {geometry.L_AB:g} m '
        f'and L_BC {geometry.L_BC:g} m cannot move'
    )


def _arms(geometry: DeltaGeometry, theta: Sequence[Number]) -> tuple[list[Vector], ...]:
    """Return three vectors of each arm.

    b = -L_AB (sin e + cos z), the elbow's velocity per arm velocity; its derivative
    b' = -L_AB (cos e - sin z); and where the platform's centre would be with rods of no length,
    (R_b - r_p) e - b'.
    """
    inner, functions_ = geometry.R_b - geometry.r_p, functions(theta[0])
    b, slope, centres = [], [], []
    for angle, (ex, ey) in zip(theta, _OUTWARDS, strict=True):
        level, drop = geometry.L_AB * functions_.cos(angle), geometry.L_AB * functions_.sin(angle)
        b.append((-drop * ex, -drop * ey, -level))
        slope.append((-level * ex, -level * ey, drop))
        centres.append(((inner + level) * ex, (inner + level) * ey, -drop))
    return b, slope, centres


def _platform(geometry: DeltaGeometry, centres: list[Vector], theta: Sequence[Number]) -> Vector:
    """Return the centre of the platform, or raise an error if there is none."""
    foot, normal, square = _meet(geometry, centres)
    if (square if isinstance(square, float) else square.min(initial=0.0)) < 0.0:
        row = int(np.argmin(square))
        angles = ', '.join(f'{np.atleast_1d(angle)[row]:.3f}' for angle in theta)
        raise ModelError(
            f'a delta of this geometry cannot reach the arm angles {angles} rad (sample {row})'
        )
    # The arms are numbered anticlockwise, so that the normal points up.
    return combine(1.0, foot, -functions(square).sqrt(square), normal)


def _meet(geometry: DeltaGeometry, centres: list[Vector]) -> tuple[Vector, Vector, Number]:
    """Return foot, normal and square: the points at L_BC from three centres, see `_platform`."""
    first, second = minus(centres[1], centres[0]), minus(centres[2], centres[0])
    normal = cross(first, second)
    share = 1.0 / dot(normal, normal)
    # Centre of the circle through the three points, seen from the first.
    lever = combine(dot(first, first), second, -dot(second, second), first)
    circle = times(0.5 * share, cross(lever, normal))
    square = (geometry.L_BC**2 - dot(circle, circle)) * share
    return combine(1.0, centres[0], 1.0, circle), normal, square


def _dexterity(geometry: DeltaGeometry, theta: Array) -> Array:
    """Return the volume of the unit rods times the smallest lever arm, (N,); 0: singular."""
    b, _, centres = _arms(geometry, components(theta))
    with np.errstate(all='ignore'):  # where the rods' ends fall together
        foot, normal, square = _meet(geometry, centres)
        x = combine(1.0, foot, -np.sqrt(np.maximum(square, 0.0)), normal)
    rods = [times(1.0 / geometry.L_BC, minus(x, centre)) for centre in centres]
    volume = np.abs(dot(rods[0], cross(rods[1], rods[2])))
    leverage = np.min(
        [np.abs(dot(rod, lever)) for rod, lever in zip(rods, b, strict=True)], axis=0
    )
    return np.where(square > 0.0, volume * leverage / geometry.L_AB, 0.0)
