# SPDX-License-Identifier: Apache-2.0
"""Mass and principal inertias of each body, from the wrenches that act on it.

Cheng, Bi and Yuan, "Dynamic parameters identification method of 6-DOF industrial robot based on
quaternion" (2022). Where the wrench at every hinge of a body is known (a simulation, or force and
torque sensors), Newton's and Euler's equations of that body are linear in its four parameters
(Eq. 17, 18). The column (Lambda^T Lambda - 1) that Eq. 20 adds is zero by definition and is left
out. Parameters that the motion does not excite are NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.checks import ILL_CONDITIONED
from robodyn_ros.models.interface import Array
from robodyn_ros.models.quaternion import euler_matrix

VAGUE = 0.5
"""Largest standard deviation of an identified value, relative to the value: at one half, zero is
still two standard deviations away."""

MISFIT = 0.05
"""Largest unexplained share of the moments; above it, the axes or the centre are in doubt."""

INERTIAS = ('J11', 'J22', 'J33')
AXES = ('x', 'y', 'z')


@dataclass(frozen=True)
class BodyMotion:
    """Motion of a body and the wrench on it; arrays have shape (N, 3), SI.

    Body axes are the principal axes of inertia, with the centre of mass as origin.

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
    """Parameters of a body; NaN: not identifiable from its motion.

    :param mass: from all three directions together, in [kg]
    :param mass_stddev: standard deviation of the mass, in [kg]
    :param directions: mass from each world direction separately, shape (3,), in [kg] (Table 2)
    :param inertia: principal moments of inertia (J11, J22, J33), shape (3,), in [kg m^2]
    :param inertia_stddev: shape (3,), in [kg m^2]
    :param force_residual: unexplained share of the forces, 0 to 1
    :param moment_residual: unexplained share of the moments, 0 to 1
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
        """Return the facts for JSON."""
        return {
            'body': self.name,
            'samples': self.samples,
            'mass': self.mass,
            'mass_stddev': self.mass_stddev,
            'mass_by_direction': dict(zip(AXES, self.directions, strict=True)),
            'principal_inertias': dict(zip(INERTIAS, self.inertia, strict=True)),
            'principal_inertia_stddevs': dict(zip(INERTIAS, self.inertia_stddev, strict=True)),
            'force_residual': self.force_residual,
            'moment_residual': self.moment_residual,
        }


def identify_body(motion: BodyMotion) -> BodyEstimate:
    """Identify mass and principal inertias of one body by least squares (Eq. 26).

    Newton's and Euler's equations share no parameter and are solved separately.

    :raises IdentificationError: fewer than 2 samples, or a number that is not finite
    """
    arrays = (motion.velocity, motion.acceleration, motion.specific, motion.force, motion.moment)
    if len(motion.force) < 2 or not all(np.isfinite(values).all() for values in arrays):
        raise IdentificationError(
            f'body {motion.name}: at least 2 samples of finite numbers are needed, got '
            f'{len(motion.force)} samples'
        )
    matrix = euler_matrix(motion.velocity, motion.acceleration).reshape(-1, 3)
    masses = _fit(motion.specific.reshape(-1, 1), motion.force.reshape(-1))
    inertias = _fit(matrix, motion.moment.reshape(-1))
    return BodyEstimate(
        name=motion.name,
        samples=len(motion.force),
        mass=float(masses[0][0]),
        mass_stddev=float(masses[1][0]),
        directions=_directions(motion),
        inertia=inertias[0],
        inertia_stddev=inertias[1],
        force_residual=masses[2],
        moment_residual=inertias[2],
    )


def identify_bodies(
    motions: Sequence[BodyMotion],
) -> tuple[tuple[BodyEstimate, ...], tuple[Finding, ...]]:
    """Return the parameters of each body, and findings about them.

    :raises IdentificationError: as `identify_body`
    """
    estimates = tuple(identify_body(motion) for motion in motions)
    return estimates, tuple(item for each in estimates for item in body_findings(each))


def body_findings(estimate: BodyEstimate) -> Iterator[Finding]:
    """Yield parameters that the motion does not excite, and values that no body can have."""
    hidden = [
        name
        for name, value in zip(('mass', *INERTIAS), _values(estimate), strict=True)
        if not np.isfinite(value)
    ]
    if hidden:
        yield finding('not_identifiable', body=estimate.name, parameters=', '.join(hidden))
    if estimate.moment_residual > MISFIT:
        share = estimate.moment_residual
        yield finding('axes_in_doubt', body=estimate.name, share=share, limit=MISFIT)
    if _impossible(estimate):
        yield finding('impossible_body', body=estimate.name)


def _values(estimate: BodyEstimate) -> Array:
    return np.append(estimate.mass, estimate.inertia)


def _impossible(estimate: BodyEstimate) -> bool:
    """Return True if a value is negative, or breaks the triangle inequality, by 3 sigma."""
    spread = np.append(estimate.mass_stddev, estimate.inertia_stddev)
    excess = 2.0 * estimate.inertia - estimate.inertia.sum()
    limit = 3.0 * np.linalg.norm(estimate.inertia_stddev)
    # Comparisons with NaN are false.
    return bool((_values(estimate) < -3.0 * spread).any() or (excess > limit).any())


def _directions(motion: BodyMotion) -> Array:
    """Return the mass from each world direction, shape (3,); NaN without acceleration there."""
    strongest = np.linalg.norm(motion.specific, axis=0).max()
    return np.array(
        [
            _fit(motion.specific[:, [k]], motion.force[:, k], strongest=strongest)[0][0]
            for k in range(3)
        ]
    )


def _fit(matrix: Array, target: Array, *, strongest: float = 0.0) -> tuple[Array, Array, float]:
    """Solve a least squares problem; unobservable parameters are NaN."""
    left, size, right = np.linalg.svd(matrix, full_matrices=False)
    seen = size > max(strongest, size[0], np.finfo(float).tiny) / ILL_CONDITIONED
    weights = right[seen].T / size[seen]
    values: Array = weights @ (left[:, seen].T @ target)
    residual = target - matrix @ values
    freedom = max(len(target) - int(seen.sum()), 1)
    spread = np.linalg.norm(weights, axis=1) * np.linalg.norm(residual) / np.sqrt(freedom)
    # 1e-3: parts of unobservable directions that are only rounding of the decomposition
    hidden: NDArray[np.bool_] = np.linalg.norm(right[~seen], axis=0) > 1e-3
    hidden |= spread > VAGUE * np.abs(values)
    size_of_target = np.linalg.norm(target)
    share = float(np.linalg.norm(residual) / size_of_target) if size_of_target > 0.0 else 0.0
    return np.where(hidden, np.nan, values), np.where(hidden, np.nan, spread), share
