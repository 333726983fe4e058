"""Friction over velocity from the bidirectional experiment (`excitation.motions.bidirectional`).

A joint passes the same positions at opposite constant velocities while all other joints are at
rest. Half the difference of the two torques is its friction (document double_encoder, Eq. 5 to 8).
Half the sum is the torque that does not change sign with the velocity, such as gravity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
        """Fit a friction law with the best smoothing (Eq. 12): values by term, and residuals.

        :param law: law whose terms change sign with the velocity; its offset is ignored
        :raises IdentificationError: the law has other terms, or more terms than speeds
        """
        terms = [term for term in LAWS.get(law, ()) if term != 'offset']
        one_sided = {term for term in terms if term == 'asymmetry' or term.endswith('ward')}
        if not terms or one_sided:
            raise IdentificationError(f'the law {law!r} cannot be fitted to a friction curve')
        needs = sorted({name for term in terms for name in TERMS[term].needs})
        if len(terms) + len(needs) > len(self.speed):
            raise IdentificationError(
                f'joint {self.joint}: the law {law!r} needs at least '
                f'{len(terms) + len(needs)} speeds, got {len(self.speed)}'
            )
        smoothings = np.geomspace(0.003, 1.0, 40 if needs else 1) * self.speed[-1]
        fits = (self._fit(terms, dict.fromkeys(needs, float(each))) for each in smoothings)
        return min(fits, key=lambda fit: float(fit[1] @ fit[1]))

    def _fit(
        self, terms: list[str], coefficients: dict[str, float]
    ) -> tuple[dict[str, float], Array]:
        """Fit terms with given nonlinear coefficients: all values by name, and residuals."""
        shaped = {name: np.array([value]) for name, value in coefficients.items()}
        matrix = np.column_stack(
            [TERMS[term].column(self.speed[:, None], shaped)[:, 0] for term in terms]
        )
        values = np.linalg.lstsq(matrix, self.friction, rcond=None)[0]
        named = dict(zip(terms, values.tolist(), strict=True)) | coefficients
        return named, self.friction - matrix @ values


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
            low, high = _shared(one, other)
            if abs(size - back) < 0.1 * size and low < high:  # the same speed of the plan
                ahead, behind = (one, other) if one.speed > 0.0 else (other, one)
                points.append((0.5 * (size + back), *_half_difference(ahead, behind)))
    if not points:
        return None
    return FrictionCurve(recording.joints[joint], *_merged(sorted(points)).T)


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


def _shared(one: _Pass, other: _Pass) -> tuple[float, float]:
    """Return the limits of the range of both passes; low is above high if there is none."""
    low = max(one.position[0], other.position[0])
    return float(low), float(min(one.position[-1], other.position[-1]))


def _half_difference(ahead: _Pass, behind: _Pass) -> tuple[float, float]:
    """Return mean and standard deviation of Eq. 8 over the positions of both passes."""
    at = np.linspace(*_shared(ahead, behind), 50)
    pair = [np.interp(at, each.position, each.torque) for each in (ahead, behind)]
    half = 0.5 * (pair[0] - pair[1])
    return float(half.mean()), float(half.std())


def _merged(points: list[tuple[float, float, float]]) -> Array:
    """Average the points of the same speed, from consecutive pairs of passes."""
    groups: list[list[tuple[float, float, float]]] = []
    for point in points:
        if groups and point[0] < (1.0 + STEADY) * groups[-1][0][0]:
            groups[-1].append(point)
        else:
            groups.append([point])
    return np.array([np.mean(group, axis=0) for group in groups])
