# SPDX-License-Identifier: Apache-2.0
"""A physically consistent robot among all parameters that give the same torque.

A link is possible when its pseudo-inertia is positive definite (Wensing, Kim and Slotine, "Linear
matrix inequalities for physically consistent inertial parameter identification", 2018, Eq. 8), a
rotor when its inertia is not negative. Both are cones, so that the consistent robot nearest to a
prior is a small conic programme.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
import scipy  # its parts at their first use: they take half a second

from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.friction_terms import BRAKING, TERMS
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.inertia import INERTIAL_NAMES, pseudo_inertia


def minimise(
    quadratic: Array, linear: Array, rows: scipy.sparse.csc_matrix, limits: Array, cones: list[Any]
) -> Any:
    """Minimise x^T Q x / 2 + c^T x with limits - rows x in the cones, by Clarabel.

    :return: Clarabel's solution, with `x` and `status`
    :raises IdentificationError: the solver broke down
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    upper = scipy.sparse.triu(quadratic, format='csc')
    try:
        return clarabel.DefaultSolver(upper, linear, rows, limits, cones, settings).solve()
    except BaseException as error:
        # A panic of Rust code is no Exception, so that it would end the node.
        if isinstance(error, Exception) or type(error).__name__ == 'PanicException':
            text = ' '.join(str(error).split())
            raise IdentificationError(f'the consistency solver failed: {text}') from error
        raise


def minimise_within(quadratic: Array, linear: Array, lower: Array, upper: Array) -> Array | None:
    """Minimise x^T Q x / 2 - c^T x with lower <= x <= upper, by an active set; None: not found.

    :param quadratic: Q, shape (n, n), positive definite
    """
    at = np.zeros(len(linear))  # -1: at the lower limit, 1: at the upper one
    for _ in range(30):
        held = at != 0.0
        x = np.where(at < 0.0, lower, np.where(held, upper, 0.0))
        try:
            rest = linear[~held] - quadratic[np.ix_(~held, held)] @ x[held]
            x[~held] = np.linalg.solve(quadratic[np.ix_(~held, ~held)], rest)
        except np.linalg.LinAlgError:
            return None
        outside = (x > upper).astype(float) - (x < lower)
        pulled = at * (quadratic @ x - linear) > 0.0
        if not (outside.any() or pulled.any()):
            return x if np.isfinite(x).all() else None
        at = np.where(pulled, 0.0, at + outside)
    return None


LENGTH = 0.1
"""Length [m] that weighs first moments and inertias against masses."""

_FRICTION = tuple(f'.{name}' for name in BRAKING if name != 'viscous_friction')
"""Friction that is not negative. A late torque makes viscous friction so: an apparent value."""

_SHARES = tuple(f'.{term.parameter}' for term in TERMS.values() if term.load)

_ROUNDING = float(np.sqrt(np.finfo(float).eps))
"""Rotor inertias [kg m^2] this little below zero are zero, and columns and singular values of a
grouping below this share of the largest: half the digits of a number."""


@dataclass(frozen=True)
class Bodies:
    """Positions of the inertial parameters among a model's parameters.

    :param links: name and ten parameter indices, in the order of INERTIAL_NAMES, of each link
    :param friction: indices of friction that takes energy and never gives it
    :param shares: indices of friction that is a share of the load, at most 1
    """

    links: tuple[tuple[str, tuple[int, ...]], ...]
    rotors: tuple[int, ...]
    friction: tuple[int, ...] = ()
    shares: tuple[int, ...] = ()

    @property
    def not_negative(self) -> tuple[int, ...]:
        """Indices of rotor inertias and friction."""
        return self.rotors + self.friction


def bodies_of(model: DynamicModel) -> Bodies:
    """Find links and rotors by the names of their parameters ('<link>.m', ...)."""
    index = {item.name: number for number, item in enumerate(model.parameters)}
    links = []
    for name in index:
        body, _, suffix = name.rpartition('.')
        if suffix == INERTIAL_NAMES[0]:
            indices = tuple(index.get(f'{body}.{part}', -1) for part in INERTIAL_NAMES)
            if min(indices) >= 0:
                links.append((body, indices))
    rotors = tuple(k for name, k in index.items() if name.endswith('.rotor_inertia'))
    friction = tuple(k for name, k in index.items() if name.endswith(_FRICTION))
    shares = tuple(k for name, k in index.items() if name.endswith(_SHARES))
    return Bodies(links=tuple(links), rotors=rotors, friction=friction, shares=shares)


def is_consistent(model: DynamicModel, values: Array) -> bool:
    """Return True if every link's pseudo-inertia is positive definite and no rotor is negative."""
    rotors = bodies_of(model).rotors
    return links_are_consistent(model, values) and all(values[k] >= 0.0 for k in rotors)


def links_are_consistent(model: DynamicModel, values: Array) -> bool:
    """Return True if every link's pseudo-inertia is positive definite."""
    links = bodies_of(model).links
    if not links:
        return True
    tens = values[np.array([indices for _, indices in links])]
    return bool(np.linalg.eigvalsh(pseudo_inertia(tens)).min() > 0.0)


def scales(model: DynamicModel, prior: Array) -> Array:
    """Return the natural size of each parameter, shape (p,), the unit of distances to a prior."""
    result = np.ones(len(model.parameters))
    for _, indices in bodies_of(model).links:
        mass = max(prior[indices[0]], 0.1)
        result[list(indices)] = mass * np.array([1.0, *(LENGTH,) * 3, *(LENGTH**2,) * 6])
    return result


def nearest(model: DynamicModel, grouping: Array, base: Array, prior: Array) -> Array:
    """Return parameters (p,) with `grouping @ values = base`, nearest to a prior.

    Those without a prior are of minimum norm.

    :param grouping: K of the base parameters, shape (b, p)
    :param base: base values, shape (b,)
    :param prior: shape (p,); NaN: nothing is known
    """
    known = np.isfinite(prior)
    values = np.where(known, prior, 0.0)
    scale = scales(model, values)
    matrix = grouping * scale
    # The known ones must explain the torque that the unknown ones cannot.
    free = np.linalg.pinv(matrix[:, ~known], rcond=_ROUNDING)
    rest = np.eye(len(base)) - matrix[:, ~known] @ free
    left = rest @ matrix[:, known]
    left[
        :, np.linalg.norm(left, axis=0) < _ROUNDING * np.linalg.norm(matrix[:, known], axis=0)
    ] = 0.0
    inverse = np.zeros_like(matrix.T)
    inverse[known] = np.linalg.pinv(left, rcond=_ROUNDING) @ rest
    inverse[~known] = free @ (np.eye(len(base)) - matrix @ inverse)
    for _ in range(2):  # again, against rounding
        values = values + scale * (inverse @ (base - grouping @ values))
    return values


def consistent(model: DynamicModel, grouping: Array, base: Array, prior: Array) -> Array:
    """Return the physically consistent parameters with the given base values, nearest to a prior.

    :param grouping: K of the base parameters, shape (b, p)
    :param base: base values, shape (b,); they are kept exactly
    :param prior: shape (p,); NaN: nothing is known
    :return: parameter values, shape (p,)
    :raises IdentificationError: no physically consistent robot has these base values
    """
    bodies = bodies_of(model)
    scale = scales(model, np.nan_to_num(prior))
    start = nearest(model, grouping, base, prior)
    if not (bodies.links or bodies.rotors):
        return start
    directions = scale[:, None] * scipy.linalg.null_space(grouping * scale)
    cone, blocks, limits = constraints(bodies, scale, start, directions, bodies.rotors)
    free = directions.shape[1]
    if free:
        rows = scipy.sparse.csc_matrix(blocks)
        solution = minimise(np.eye(free), np.zeros(free), rows, limits, cone)
        if 'Solved' in str(solution.status):
            start = start + directions @ np.array(solution.x)
    # Nearly consistent is not consistent: the solution is checked in the form in which it is used.
    values = start + scale * (np.linalg.pinv(grouping * scale) @ (base - grouping @ start))
    rotors = values[list(bodies.rotors)]
    rounding = (rotors < 0.0) & (rotors > -_ROUNDING)
    values[list(bodies.rotors)] = np.where(rounding, 0.0, rotors)
    if not is_consistent(model, values):
        raise IdentificationError(
            'no physically consistent robot (positive masses, inertias and rotor inertias) has '
            'the identified base parameters'
        )
    return values


def constraints(
    bodies: Bodies,
    scale: Array,
    start: Array,
    directions: Array,
    not_negative: tuple[int, ...],
    shares: tuple[int, ...] = (),
) -> tuple[list[Any], Array, Array]:
    """Return cones K, A and b: start + directions @ z is consistent if b - A z is in K.

    :param not_negative: indices of the parameters that must not be negative
    :param shares: indices of those that must not be above 1
    """
    cones: list[Any] = []
    rows, limits = [], []
    single, most = list(not_negative), list(shares)
    if single or most:
        cones.append(clarabel.NonnegativeConeT(len(single) + len(most)))
        rows += [-directions[single], directions[most]]
        limits += [start[single] + 0.1 * _ROUNDING, 1.0 - start[most]]
    for _, indices in bodies.links:
        link = list(indices)
        # Scaled to numbers near 1, so that the solver's tolerances mean something.
        unit = unit_of(scale[link[0]])
        packed = pack_matrices(unit @ BASIS @ unit)
        cones.append(clarabel.PSDTriangleConeT(4))
        rows.append(-packed.T @ directions[link])
        # With a margin for the tolerance of the solver.
        limits.append(packed.T @ start[link] - 1e-5 * pack_matrices(np.eye(4)))
    return cones, np.vstack(rows), np.concatenate(limits)


def within(bodies: Bodies, slack: Array) -> bool:
    """Return True if b - A z of `constraints` is in the cones."""
    single = len(bodies.not_negative) + len(bodies.shares)
    if not (slack[:single] >= 0.0).all():
        return False
    columns, rows = np.tril_indices(4)
    matrices = np.zeros((len(bodies.links), 4, 4))
    factor = np.where(rows == columns, 1.0, np.sqrt(0.5))
    matrices[:, columns, rows] = slack[single:].reshape(-1, 10) * factor
    return bool((np.linalg.eigvalsh(matrices) >= 0.0).all())


def unit_of(mass: float) -> Array:
    """Return diagonal U (4, 4) that scales a link's pseudo-inertia P: U P U^T is near one."""
    unit: Array = np.diag([1.0 / LENGTH] * 3 + [1.0]) / np.sqrt(mass)
    return unit


def pack_matrices(matrices: Array) -> Array:
    """Upper triangles (..., k), column by column, off-diagonals times sqrt 2 (clarabel's)."""
    columns, rows = np.tril_indices(matrices.shape[-1])
    factor = np.where(rows == columns, 1.0, np.sqrt(2.0))
    result: Array = matrices[..., rows, columns] * factor
    return result


BASIS = pseudo_inertia(np.eye(10))
"""Pseudo-inertia of each of the ten unit parameters, shape (10, 4, 4)."""
