"""Mass and principal inertias of each body alone, from the wrenches on it.

Cheng, Bi and Yuan, "Dynamic parameters identification method of 6-DOF industrial robot based on
quaternion" (2022). Where the wrench at every hinge of a body is known (a simulation, or force and
torque sensors), Newton's and Euler's equations of that body are linear in its own four parameters
(Eq. 17, 18), and nothing couples it to the others. Quaternions keep attitudes free of
singularities. The column (Lambda^T Lambda - 1) that Eq. 20 adds is zero by definition: it takes
part in no equation and turns the condition number from 2 into 1e7, so it is left out.

What a motion does not show is NaN here, never a number: a body that only spins about its own
first axis says nothing about its second and third moment of inertia.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.interface import Array
from robodyn_ros.models.quaternion import euler_matrix
from robodyn_ros.recording.recording import Finding

UNSEEN = 1e-4
"""A direction of the parameters that moves a body less than this share of the best seen one."""

VAGUE = 0.5
"""A value whose standard deviation is a larger share of it than this is not identified."""

MISFIT = 0.05
"""Share of the moments left unexplained from which on the axes or the centre are in doubt."""

_MIXED = 1e-3
"""A parameter that takes part in unseen directions with more than this is not identifiable."""

INERTIAS = ('J11', 'J22', 'J33')
AXES = ('x', 'y', 'z')


@dataclass(frozen=True)
class BodyMotion:
    """How a body moved, and what acted on it; arrays have shape (N, 3), SI.

    Body axes are the principal axes of inertia, with the centre of mass as origin.

    :param name: of the body
    :param velocity: angular, along body axes, in [rad/s]
    :param acceleration: angular, along body axes, in [rad/s^2]
    :param specific: acceleration of the centre of mass minus gravity, world axes, in [m/s^2]
    :param force: sum of all hinge forces on the body, world axes, in [N]
    :param moment: sum of all hinge moments about the centre of mass, body axes, in [Nm]
    """

    name: str
    velocity: Array
    acceleration: Array
    specific: Array
    force: Array
    moment: Array


@dataclass(frozen=True)
class BodyEstimate:
    """What the motion says about a body; NaN: not identifiable from it.

    :param samples: number of samples
    :param mass: from all three directions together, in [kg]
    :param mass_stddev: its standard deviation, in [kg]
    :param directions: mass from each world direction alone, shape (3,), in [kg] (Table 2)
    :param inertia: principal moments of inertia (J11, J22, J33), shape (3,), in [kg m^2]
    :param inertia_stddev: shape (3,), in [kg m^2]
    :param force_residual: share of the forces left unexplained, 0 to 1
    :param moment_residual: share of the moments left unexplained, 0 to 1
    """

    name: str
    samples: int
    mass: float
    mass_stddev: float
    directions: Array
    inertia: Array
    inertia_stddev: Array
    force_residual: float
    moment_residual: float

    def to_json(self) -> dict[str, object]:
        """Plain facts; what is not identifiable is None."""

        def plain(values: Array) -> list[float | None]:
            return [float(v) if np.isfinite(v) else None for v in np.atleast_1d(values)]

        return {
            'body': self.name,
            'samples': self.samples,
            'mass': plain(np.array(self.mass))[0],
            'mass_stddev': plain(np.array(self.mass_stddev))[0],
            'mass_by_direction': dict(zip(AXES, plain(self.directions), strict=True)),
            'principal_inertias': dict(zip(INERTIAS, plain(self.inertia), strict=True)),
            'principal_inertia_stddevs': dict(
                zip(INERTIAS, plain(self.inertia_stddev), strict=True)
            ),
            'force_residual': plain(np.array(self.force_residual))[0],
            'moment_residual': plain(np.array(self.moment_residual))[0],
        }


def identify_body(motion: BodyMotion) -> BodyEstimate:
    """Mass and principal inertias of one body by least squares (Eq. 26).

    Newton's equation and Euler's share no parameter and are solved on their own.

    :raises IdentificationError: fewer than 2 samples, or a number that is not finite
    """
    arrays = (motion.velocity, motion.acceleration, motion.specific, motion.force, motion.moment)
    if len(motion.force) < 2 or not all(np.isfinite(values).all() for values in arrays):
        raise IdentificationError(
            f'body {motion.name}: at least 2 samples of finite numbers are needed, got '
            f'{len(motion.force)} samples'
        )
    mass, spread, rest = _fit(motion.specific.reshape(-1, 1), motion.force.reshape(-1))
    matrix = euler_matrix(motion.velocity, motion.acceleration).reshape(-1, 3)
    inertia, spreads, left = _fit(matrix, motion.moment.reshape(-1))
    return BodyEstimate(
        name=motion.name,
        samples=len(motion.force),
        mass=float(mass[0]),
        mass_stddev=float(spread[0]),
        directions=_directions(motion),
        inertia=inertia,
        inertia_stddev=spreads,
        force_residual=rest,
        moment_residual=left,
    )


def identify_bodies(
    motions: Sequence[BodyMotion],
) -> tuple[tuple[BodyEstimate, ...], tuple[Finding, ...]]:
    """Identify each body, and say what cannot be trusted.

    :raises IdentificationError: as `identify_body`
    """
    estimates = tuple(identify_body(motion) for motion in motions)
    return estimates, tuple(found for each in estimates for found in body_findings(each))


def body_findings(estimate: BodyEstimate) -> Iterator[Finding]:
    """Yield parameters of a body that the motion does not excite, and values no body can have."""
    hidden = [] if np.isfinite(estimate.mass) else ['mass']
    hidden += [
        name
        for name, value in zip(INERTIAS, estimate.inertia, strict=True)
        if not np.isfinite(value)
    ]
    if hidden:
        yield Finding(
            'not_identifiable',
            f'body {estimate.name}: {", ".join(hidden)} cannot be identified from this motion; '
            f'a moment of inertia shows where the body is accelerated about its axis, or turns '
            f'about both of the others at once',
        )
    if estimate.moment_residual > MISFIT:
        yield Finding(
            'axes_in_doubt',
            f'body {estimate.name}: {estimate.moment_residual:.1%} of its moments are not '
            f'explained by principal inertias: the attitude must be that of its principal axes, '
            f'and the wrenches must act about its centre of mass',
        )
    if _impossible(estimate):
        yield Finding(
            'impossible_body',
            f'body {estimate.name}: no body has these values (a mass and moments of inertia are '
            f'positive, and no moment exceeds the sum of the two others)',
        )


def _impossible(estimate: BodyEstimate) -> bool:
    """Whether values are negative or break the triangle inequality by 3 standard deviations."""
    single = np.append(estimate.inertia, estimate.mass)
    spread = np.append(estimate.inertia_stddev, estimate.mass_stddev)
    excess = 2.0 * estimate.inertia - estimate.inertia.sum()
    limit = 3.0 * np.sqrt(np.sum(estimate.inertia_stddev**2))
    # Comparisons with what is not identifiable are false.
    return bool((single < -3.0 * spread).any() or (excess > limit).any())


def _directions(motion: BodyMotion) -> Array:
    """Mass from each world direction alone, shape (3,); NaN where nothing accelerates there."""
    strongest = np.linalg.norm(motion.specific, axis=0).max()
    return np.array(
        [
            _fit(motion.specific[:, [k]], motion.force[:, k], strongest=strongest)[0][0]
            for k in range(3)
        ]
    )


def _fit(matrix: Array, target: Array, *, strongest: float = 0.0) -> tuple[Array, Array, float]:
    """Least squares that gives no value to what the equations do not show.

    :param matrix: shape (m, k), all columns of one unit
    :param strongest: singular value to measure others against, where it is not one of these
    :return: values (k,), standard deviations (k,), NaN for what is not identifiable, and the
        share of the target that is not explained
    """
    left, size, right = np.linalg.svd(matrix, full_matrices=False)
    seen = size > UNSEEN * max(strongest, size[0], 1e-300)
    values: Array = right[seen].T @ ((left[:, seen].T @ target) / size[seen])
    rest = target - matrix @ values
    freedom = max(len(target) - int(seen.sum()), 1)
    weights = right[seen].T / size[seen]
    spread = np.sqrt(np.sum(weights**2, axis=1) * np.sum(rest**2) / freedom)
    hidden: NDArray[np.bool_] = np.sum(right[~seen] ** 2, axis=0) > _MIXED**2
    hidden |= spread > VAGUE * np.abs(values)
    whole = np.linalg.norm(target)
    unexplained = float(np.linalg.norm(rest) / whole) if whole > 0.0 else 0.0
    return np.where(hidden, np.nan, values), np.where(hidden, np.nan, spread), unexplained
