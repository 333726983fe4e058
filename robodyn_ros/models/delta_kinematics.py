"""Kinematics of a DELTA robot: where the platform is, and how it moves with the arms.

z points up. Arm i lies in the vertical plane at phi_i = 0, 120, 240 degrees, its angle is 0 when
horizontal and counts downwards. All functions work on many samples at once, and are written for
few calls of numpy, because a controller asks for one sample per cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array

ARMS = 3
_PHI = 2.0 * np.pi / 3.0 * np.arange(ARMS)
OUTWARDS: Array = np.stack([np.cos(_PHI), np.sin(_PHI), np.zeros(ARMS)], axis=1)
"""Horizontal direction e_i of each arm, shape (3, 3)."""

_UP: Array = np.tile([0.0, 0.0, 1.0], (ARMS, 1))
_ONES: Array = np.ones(3)
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
# Elements of a (3, 3) matrix, taken as 9 numbers, whose products give the cross products of its
# rows: row i + 1 times row i + 2.
_PICK = [
    (3 * rows[:, None] + columns).ravel()
    for rows, columns in ((_NEXT, _NEXT), (_LAST, _LAST), (_NEXT, _LAST), (_LAST, _NEXT))
]


@dataclass(frozen=True)
class DeltaGeometry:
    """Lengths [m] of a delta robot.

    R_b: from the base's centre to the arms' axes, r_p: from the platform's centre to the rods,
    L_AB: arm, L_BC: rod.
    """

    R_b: float
    r_p: float
    L_AB: float
    L_BC: float

    @cached_property
    def _turned(self) -> Array:
        """Matrix (6, 27): from cos and sin of the arm angles to b, b' and centres (3, 3, 3)."""
        result = np.zeros((2, ARMS, 3, ARMS, 3))
        for arm in range(ARMS):
            along, up = self.L_AB * OUTWARDS[arm], self.L_AB * _UP[arm]
            result[:, arm, 0, arm] = -up, -along
            result[:, arm, 1, arm] = -along, up
            result[:, arm, 2, arm] = along, -up
        return result.reshape(2 * ARMS, -1)

    @cached_property
    def _fixed(self) -> Array:
        """What the centres have beside their turned part, shape (27,)."""
        result = np.zeros((3, ARMS, 3))
        result[2] = (self.R_b - self.r_p) * OUTWARDS
        return result.ravel()

    def arms(self, theta: Array) -> tuple[Array, Array, Array]:
        """Vectors of each arm, each (N, 3, 3), at angles (N, 3) in [rad].

        b = -L_AB (sin e + cos z), the elbow's velocity per arm velocity; its derivative
        b' = -L_AB (cos e - sin z); and where the platform's centre would be with rods of no
        length, (R_b - r_p) e - b'.
        """
        turn = np.concatenate([np.cos(theta), np.sin(theta)], axis=1)
        vectors = (turn @ self._turned + self._fixed).reshape(-1, 3, ARMS, 3)
        return vectors[:, 0], vectors[:, 1], vectors[:, 2]


@dataclass(frozen=True)
class DeltaMotion:
    """Motion of platform and elbows for N samples; vectors are rows of length 3.

    :param x: platform centre, (N, 3), with velocity `xd` and acceleration `xdd`
    :param transposed: J^T with xd = J thetad, (N, 3, 3): a row for each arm
    :param b: velocity of each elbow per arm velocity, (N, 3, 3)
    :param elbow: acceleration of each elbow, (N, 3, 3)
    """

    x: Array
    xd: Array
    xdd: Array
    transposed: Array
    b: Array
    elbow: Array


def dot(a: Array, b: Array) -> Array:
    """Scalar products of the last axes."""
    result: Array = (a * b) @ _ONES
    return result


def cross(a: Array, b: Array) -> Array:
    """Cross products of rows (N, 3)."""
    result: Array = a.take(_NEXT, 1) * b.take(_LAST, 1) - a.take(_LAST, 1) * b.take(_NEXT, 1)
    return result


def forward_kinematics(geometry: DeltaGeometry, theta: Array) -> Array:
    """Centre of the platform, below the elbows.

    :param theta: arm angles, shape (N, 3), in [rad]
    :return: shape (N, 3), in [m]
    :raises ModelError: angles at which the rods cannot meet at the platform
    """
    x, square = _meet(geometry.arms(theta)[2], geometry.L_BC)
    _refuse_unreachable(square, theta)
    return x


def jacobians(geometry: DeltaGeometry, theta: Array) -> tuple[Array, Array]:
    """Platform centre (N, 3) [m] and J^T (N, 3, 3), with xd = J thetad.

    :param theta: arm angles, shape (N, 3), in [rad]
    :raises ModelError: angles at which the rods cannot meet at the platform
    """
    rest = np.zeros(theta.shape)
    moving = delta_motion(geometry, theta, rest, rest)
    return moving.x, moving.transposed


def delta_motion(
    geometry: DeltaGeometry, theta: Array, thetad: Array, thetadd: Array
) -> DeltaMotion:
    """Motion of platform and elbows.

    :param theta: arm angles, shape (N, 3), in [rad]
    :param thetad: arm velocities, shape (N, 3), in [rad/s]
    :param thetadd: arm accelerations, shape (N, 3), in [rad/s^2]
    :raises ModelError: angles at which the rods cannot meet at the platform
    """
    b, slope, centres = geometry.arms(theta)
    x, square = _meet(centres, geometry.L_BC)
    _refuse_unreachable(square, theta)
    rods = x[:, None] - centres
    # Rows of the inverse of S, transposed: cross products of the other two rods.
    flat = rods.reshape(-1, 9)
    one, two, three, four = (flat.take(pick, 1) for pick in _PICK)
    sides = (one * two - three * four).reshape(-1, ARMS, 3)
    inverse = sides / dot(rods[:, 0], sides[:, 0])[:, None, None]
    along = dot(rods, b)
    transposed = inverse * along[:, :, None]
    xd = (thetad[:, None] @ transposed)[:, 0]
    swing = xd[:, None] - b * thetad[:, :, None]
    centripetal = slope * (thetad * thetad)[:, :, None]
    pulled = along * thetadd + (rods * centripetal - swing * swing) @ _ONES
    xdd = (pulled[:, None] @ inverse)[:, 0]
    return DeltaMotion(x, xd, xdd, transposed, b, b * thetadd[:, :, None] + centripetal)


def working_range(geometry: DeltaGeometry) -> tuple[float, float]:
    """Arm angles [rad] between which every combination is reachable and clear of singularities.

    An interval around the best conditioned equal angles of all arms; not the whole work space.

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


def _meet(centres: Array, length: float) -> tuple[Array, Array]:
    """Lower point at a distance from three centres, (N, 3).

    And the square (N,) of its height below the centres: negative where there is no such point.
    """
    origin = centres[:, 0]
    first, second = centres[:, 1] - origin, centres[:, 2] - origin
    normal = cross(first, second)
    square = dot(normal, normal)
    # Centre of the circle through the three points, seen from the first.
    lever = dot(first, first)[:, None] * second - dot(second, second)[:, None] * first
    flat = cross(lever, normal) / (2.0 * square)[:, None]
    height = length**2 - dot(flat, flat)
    # The arms are numbered anticlockwise, so that the normal points up.
    scale = np.sqrt(np.abs(height) / square)
    return origin + flat - scale[:, None] * normal, height


def _dexterity(geometry: DeltaGeometry, theta: Array) -> Array:
    """How far from singular, (N,): 0 where not reachable or where platform or arms lock."""
    b, _, centres = geometry.arms(theta)
    x, square = _meet(centres, geometry.L_BC)
    rods = x[:, None] - centres
    spread = np.linalg.svd(rods, compute_uv=False)
    leverage = np.abs(dot(rods, b)).min(axis=1) / (geometry.L_AB * geometry.L_BC)
    return np.where(square > 0.0, spread[:, 2] / spread[:, 0] * leverage, 0.0)


def _refuse_unreachable(square: Array, theta: Array) -> None:
    if len(square) and square.min() < 0.0:
        row = int(square.argmin())
        angles = ', '.join(f'{value:.3f}' for value in theta[row])
        raise ModelError(
            f'a delta of this geometry cannot reach the arm angles {angles} rad (sample {row})'
        )
