# SPDX-License-Identifier: Apache-2.0
"""Friction over velocity from the bidirectional experiment (`excitation.motions.bidirectional`).

A joint passes the same positions at opposite constant velocities while all other joints are at
rest. Half the difference of the two torques is its friction (document double_encoder, Eq. 5 to 8).
Half the sum is the torque that does not change sign with the velocity, such as gravity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.friction_terms import LAWS, TERMS
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import central_differences

RESTING = 0.02
"""Largest velocity of a joint at rest, relative to its largest velocity: above the noise of
differentiated positions, below the slowest pass of the experiment."""

STEADY = 0.03
"""Largest deviation from constant speed, relative to the speed. Friction changes by at most the
same share."""

HIDDEN = ('offset', 'asymmetry')
"""Terms that the mean of both directions does not have."""

FORWARD, BACKWARD = '_forward', '_backward'
"""Ends of the names of terms that act in one direction."""

REPEATS = 1e-3
"""Share of itself to which friction repeats at best: less noise than this is chance."""


@dataclass(frozen=True)
class FrictionCurve:
    """Friction of one joint at several speeds.

    :param speed: shape (k,), ascending, in [rad/s] or [m/s]
    :param friction: shape (k,), in [Nm] or [N]
    :param spread: standard deviation over the positions, shape (k,)
    """

    joint: str
    speed: Array
    friction: Array
    spread: Array

    def fit(self, law: str = 'smooth') -> tuple[dict[str, float], Array]:
        """Fit a friction law with its best shape coefficients: values by term, and residuals.

        Friction here is the mean of both directions. So are the values of laws that have one
        for each direction (Eq. 9 to 11); offset and asymmetry do not show in it.

        :param law: a name in `models.friction_terms.LAWS`
        :raises IdentificationError: there is no such law, it has too few speeds for its
            coefficients, or they do not determine them
        """
        if law not in LAWS:
            raise IdentificationError(f'{law!r} is no friction law; it has to be one of {[*LAWS]}')
        terms = [term for term in LAWS[law] if term not in HIDDEN and not term.endswith(BACKWARD)]
        shapes = sorted({name for term in terms for name in TERMS[term].needs})
        if any('threshold' in TERMS[term].uses for term in terms):
            shapes.append('threshold')
        if len(terms) + len(shapes) > len(self.speed):
            raise IdentificationError(
                f'joint {self.joint}: the law {law!r} needs at least '
                f'{len(terms) + len(shapes)} speeds, got {len(self.speed)}'
            )
        fits = [self._fit(terms, shape) for shape in self._shapes(shapes)]
        largest = np.abs(self.friction).max()
        known = [fit for fit in fits if fit.worst <= largest]
        known = known or [min(fits, key=lambda fit: fit.worst)]
        best, term, spread = _with_spread(known, len(self.speed) - len(terms) - len(shapes))
        if spread > largest:
            raise IdentificationError(
                f'joint {self.joint}: the law {law!r} is not determined by these '
                f'{len(self.speed)} speeds; {term.removesuffix(FORWARD)} is uncertain by '
                f'{spread:.3g} (friction is {largest:.3g}). Record slower passes, or use a law '
                f'with fewer terms'
            )
        return {name.removesuffix(FORWARD): value for name, value in best.values.items()}, (
            best.residual
        )

    def _shapes(self, names: Sequence[str]) -> Iterator[dict[str, float]]:
        """Yield the shape coefficients to try."""
        top = self.speed[-1]
        tried = [np.geomspace(0.003, 1.0, 100) * top for _ in names]
        if 'threshold' in names:
            tried[-1] = np.append(0.0, 0.99 * self.speed[1:-2])  # terms that start at a speed
        for values in product(*tried):
            yield dict(zip(names, map(float, values), strict=True))

    def _fit(self, terms: Sequence[str], shape: dict[str, float]) -> _Fit:
        """Fit terms with given shape coefficients."""
        shaped = {name: np.array([value]) for name, value in shape.items()}

        def columns(speed: Array) -> Array:
            return np.column_stack(
                [TERMS[term].column(speed[:, None], shaped)[:, 0] for term in terms]
            )

        matrix = columns(self.speed)
        # Torque of a term at its maximum, also below the slowest pass.
        largest = np.abs(columns(np.linspace(1e-3, 1.0, 1000) * self.speed[-1])).max(axis=0)
        length = np.linalg.norm(matrix, axis=0)
        unseen = length < 1e-9 * largest
        length[unseen] = 1.0
        values = np.linalg.lstsq(matrix / length, self.friction, rcond=None)[0] / length
        residual = self.friction - matrix @ values
        freedom = max(len(self.speed) - len(terms) - len(shape), 1)
        noise = max(
            float(np.linalg.norm(residual)) / np.sqrt(freedom),
            REPEATS * np.abs(self.friction).max(),
        )
        inverse = np.linalg.pinv(matrix / length, rcond=1e-12) / length[:, None]
        unsure = noise * np.linalg.norm(inverse, axis=1) * largest
        unsure[unseen] = np.inf
        worst = int(np.argmax(unsure))
        named = dict(zip(terms, values.tolist(), strict=True)) | shape
        return _Fit(named, residual, terms[worst], float(unsure[worst]), values * largest)


@dataclass(frozen=True)
class _Fit:
    """Values of a law by name, and its term that is determined worst.

    :param worst: standard deviation of what that term adds, in [Nm] or [N]
    :param sizes: what each term adds at its maximum, in [Nm] or [N]
    """

    values: dict[str, float]
    residual: Array
    unsure: str
    worst: float
    sizes: Array

    @property
    def square(self) -> float:
        """Sum of the squared residuals."""
        return float(self.residual @ self.residual)


def _with_spread(fits: Sequence[_Fit], freedom: int) -> tuple[_Fit, str, float]:
    """Return the best fit, its term that is determined worst, and by how much, in [Nm] or [N]."""
    best = min(fits, key=lambda fit: fit.square)
    alike = [fit for fit in fits if fit.square <= (1.0 + 4.0 / max(freedom, 1)) * best.square]
    spread = np.ptp([fit.sizes for fit in (best, *alike)], axis=0)
    term = int(np.argmax(spread))
    if best.worst > spread[term]:
        return best, best.unsure, best.worst
    return best, list(best.values)[term], float(spread[term])


@dataclass(frozen=True)
class _Pass:
    """Samples of constant speed, in order of position."""

    speed: float
    position: Array
    torque: Array


def friction_curves(recording: Recording) -> tuple[FrictionCurve, ...]:
    """Return the friction curve of each joint that passed a range in both directions.

    :raises IdentificationError: no joint did so while the others were at rest
    """
    velocity = recording.velocity
    if velocity is None:
        velocity = central_differences(recording.position, recording.time)
    top = np.abs(velocity).max(axis=0, initial=0.0)
    moving = np.abs(velocity) > np.maximum(RESTING * top, 1e-9)
    curves = [
        curve
        for joint in range(len(recording.joints))
        if (curve := _curve(recording, velocity, joint, moving)) is not None
    ]
    if not curves:
        raise IdentificationError(
            f'{recording.source}: no joint moves forth and back at constant speed while the '
            f'others are at rest. Record the motion "bidirectional"'
        )
    return tuple(curves)


def _curve(
    recording: Recording, velocity: Array, joint: int, moving: NDArray[np.bool_]
) -> FrictionCurve | None:
    alone = moving[:, joint] & (moving.sum(axis=1) == 1)
    direction = np.sign(velocity[:, joint]) * alone
    passes = list(_passes(recording, velocity[:, joint], joint, direction))
    points = []
    for one, other in pairwise(passes):
        if one.speed * other.speed < 0.0:
            size, back = abs(one.speed), abs(other.speed)
            low, high = _intersect_ranges(one, other)
            if abs(size - back) < 0.1 * size and low < high:  # the same speed of the plan
                ahead, behind = (one, other) if one.speed > 0.0 else (other, one)
                points.append((0.5 * (size + back), *_half_difference(ahead, behind)))
    if not points:
        return None
    return FrictionCurve(recording.joints[joint], *_average_passes(sorted(points)).T)


def _passes(
    recording: Recording, velocity: Array, joint: int, direction: Array
) -> Iterator[_Pass]:
    """Yield the samples of constant speed of each motion in one direction."""
    ends = np.flatnonzero(np.diff(direction, prepend=0.0, append=0.0))
    for first, last in pairwise(ends.tolist()):
        if direction[first] == 0.0:
            continue
        rows = np.arange(first, last)
        speed = float(np.median(velocity[rows]))
        rows = rows[np.abs(velocity[rows] - speed) < STEADY * abs(speed)]
        if len(rows) >= 10:  # enough to interpolate over positions
            rows = rows[np.argsort(recording.position[rows, joint], kind='stable')]
            yield _Pass(speed, recording.position[rows, joint], recording.torque[rows, joint])


def _intersect_ranges(one: _Pass, other: _Pass) -> tuple[float, float]:
    """Return the limits of the range of both passes; low is above high if there is none."""
    low = max(one.position[0], other.position[0])
    return float(low), float(min(one.position[-1], other.position[-1]))


def _half_difference(ahead: _Pass, behind: _Pass) -> tuple[float, float]:
    """Return mean and standard deviation of Eq. 8 over the positions of both passes."""
    at = np.linspace(*_intersect_ranges(ahead, behind), 50)
    pair = [np.interp(at, each.position, each.torque) for each in (ahead, behind)]
    half = 0.5 * (pair[0] - pair[1])
    return float(half.mean()), float(half.std())


def _average_passes(points: list[tuple[float, float, float]]) -> Array:
    """Average the points of the same speed, from consecutive pairs of passes."""
    groups: list[list[tuple[float, float, float]]] = []
    for point in points:
        if groups and point[0] < (1.0 + STEADY) * groups[-1][0][0]:
            groups[-1].append(point)
        else:
            groups.append([point])
    return np.array([np.mean(group, axis=0) for group in groups])
