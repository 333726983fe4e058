"""Friction over velocity from the bidirectional experiment (`excitation.motions.bidirectional`).

Where a joint passes the same positions at opposite constant velocities and the others rest, half
the difference of the two torques is its friction (document double_encoder, Eq. 5 to 8). Torque
that does not turn round with the velocity, gravity and the difference between the directions
alike, is half their sum.
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
"""A joint rests below this share of the largest velocity that it has in the experiment."""

STEADY = 0.03
"""Samples of a pass within this share of its speed count as constant speed."""

SHORTEST = 10
"""Samples of constant speed that a pass needs."""

ALIKE = 0.1
"""Passes forth and back belong together if their speeds differ by less than this share."""


@dataclass(frozen=True)
class FrictionCurve:
    """Friction of one joint at the speeds it was measured at.

    :param speed: shape (k,), ascending, in [rad/s] or [m/s]
    :param friction: shape (k,), in [Nm] or [N]
    :param spread: standard deviation over the positions, shape (k,)
    """

    joint: str
    speed: Array
    friction: Array
    spread: Array

    def fit(self, law: str = 'smooth') -> tuple[dict[str, float], Array]:
        """Law that fits best, its smoothing searched, as in Eq. 12: values by term, and residuals.

        :param law: whose terms may only be such that turn round with the velocity; the offset is
            left out, it is no friction
        :raises IdentificationError: a law that has other terms, or more terms than speeds
        """
        terms = [term for term in LAWS.get(law, ()) if term != 'offset']
        one_sided = {term for term in terms if term == 'asymmetry' or term.endswith('ward')}
        if not terms or one_sided:
            raise IdentificationError(f'a friction curve cannot be fitted by the law {law!r}')
        needs = sorted({name for term in terms for name in TERMS[term].needs})
        if len(terms) + len(needs) > len(self.speed):
            raise IdentificationError(
                f'{len(self.speed)} speeds of joint {self.joint} are too few for the law {law!r}'
            )
        best: tuple[float, dict[str, float], Array] | None = None
        for figure in np.geomspace(0.003, 1.0, 40 if needs else 1) * self.speed[-1]:
            figures = {name: np.array([figure]) for name in needs}
            matrix = np.column_stack(
                [TERMS[term].column(self.speed[:, None], figures)[:, 0] for term in terms]
            )
            values = np.linalg.lstsq(matrix, self.friction, rcond=None)[0]
            rest = self.friction - matrix @ values
            found = dict(zip(terms, values.tolist(), strict=True))
            found |= dict.fromkeys(needs, float(figure))
            if best is None or float(rest @ rest) < best[0]:
                best = (float(rest @ rest), found, rest)
        assert best is not None
        return best[1], best[2]


@dataclass(frozen=True)
class _Pass:
    """Samples of constant speed, in order of position."""

    speed: float
    position: Array
    torque: Array


def friction_curves(recording: Recording) -> tuple[FrictionCurve, ...]:
    """Friction curve of every joint that passed a range forth and back.

    :raises IdentificationError: no joint did while the others rested
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
            f'others rest, which friction is measured by'
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
            if abs(size - back) < ALIKE * size and low < high:
                ahead, behind = (one, other) if one.speed > 0.0 else (other, one)
                points.append((0.5 * (size + back), *_half_difference(ahead, behind)))
    if not points:
        return None
    table = np.array(_merged(sorted(points)))
    return FrictionCurve(recording.joints[joint], table[:, 0], table[:, 1], table[:, 2])


def _passes(
    recording: Recording, velocity: Array, joint: int, direction: Array
) -> Iterator[_Pass]:
    """Stretches that a joint moves in one direction, as far as their speed is constant."""
    ends = np.flatnonzero(np.diff(direction, prepend=0.0, append=0.0))
    for first, last in pairwise(ends.tolist()):
        if direction[first] == 0.0:
            continue
        own = np.arange(first, last)
        speed = float(np.median(velocity[own]))
        own = own[np.abs(velocity[own] - speed) < STEADY * abs(speed)]
        if len(own) >= SHORTEST:
            own = own[np.argsort(recording.position[own, joint], kind='stable')]
            yield _Pass(speed, recording.position[own, joint], recording.torque[own, joint])


def _shared(one: _Pass, other: _Pass) -> tuple[float, float]:
    """Return the ends of the range that both passed at constant speed.

    Without such a range the first end is above the second.
    """
    low = max(one.position[0], other.position[0])
    return float(low), float(min(one.position[-1], other.position[-1]))


def _half_difference(ahead: _Pass, behind: _Pass) -> tuple[float, float]:
    """Eq. 8 over the positions that both passed: mean and standard deviation."""
    at = np.linspace(*_shared(ahead, behind), 50)
    pair = [np.interp(at, each.position, each.torque) for each in (ahead, behind)]
    half = 0.5 * (pair[0] - pair[1])
    return float(half.mean()), float(half.std())


def _merged(points: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Points of the same speed, seen from consecutive pairs of passes, as one."""
    groups: list[list[tuple[float, float, float]]] = []
    for point in points:
        if groups and point[0] < (1.0 + STEADY) * groups[-1][0][0]:
            groups[-1].append(point)
        else:
            groups.append([point])
    means = [np.mean(group, axis=0) for group in groups]
    return [(float(mean[0]), float(mean[1]), float(mean[2])) for mean in means]
