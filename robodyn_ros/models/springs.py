# SPDX-License-Identifier: Apache-2.0
"""Springs, balancers and slips at the joints: torque that depends on the joint's positions.

A torsion spring has the torque k (q - q0); its k q0 is the torque offset of friction. A spring on
a lever that turns with the joint has a torque that is close to a sine of the position (Siciliano
and Khatib, "Springer Handbook of Robotics", 2016, section 4.8, on static balancing). A slip is a
spring that yields at a given deflection: friction with hysteresis before sliding. Several of them
side by side are the generalised Maxwell-slip model (Al-Bender, Lampaert and Swevers, "The
generalized Maxwell-slip model", 2005), without its Stribeck part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import (
    Array,
    DynamicModel,
    Joint,
    Parameter,
    TorqueFunction,
    parts_of,
)


@dataclass(frozen=True)
class SpringTerm:
    """One term: parameter name, units, and its column as a function of the positions.

    :param yields_at: deflection of a slip at which it slides, in [rad] or [m]; 0: no slip. Its
        column takes the positions as consecutive samples
    """

    parameter: str
    unit_rotary: str
    unit_linear: str
    column: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    yields_at: float = 0.0


def slip_state(q: Array, yields_at: float) -> Array:
    """Return the deflection of a slip at consecutive positions, -1 to 1, shape (N, n).

    Before the first sample, the joint moved on in the direction of its first step.

    :param q: shape (N, n), in [rad] or [m]
    :param yields_at: largest deflection, in [rad] or [m]
    """
    result = np.zeros(q.shape)
    for joint, path in enumerate(q.T):
        step = np.diff(path)
        moving = np.flatnonzero(step)
        if not len(moving):
            continue
        forward = step[moving] > 0.0
        turns = np.append(0, moving[1:][forward[1:] != forward[:-1]])
        # The end of the spring that slips; the joint is at most `yields_at` away from it.
        end, ends = float(path[0]) - yields_at * (1.0 if forward[0] else -1.0), []
        for at in path[turns].tolist():
            end = min(max(end, at - yields_at), at + yields_at)
            ends.append(end)
        held = np.repeat(ends, np.diff(np.append(turns, len(path))))
        followed = np.clip(held, path - yields_at, path + yields_at)
        result[:, joint] = (path - followed) / yields_at
    return result


def _slip(parameter: str, yields_at: float) -> SpringTerm:
    column = partial(slip_state, yields_at=yields_at)
    return SpringTerm(parameter, 'Nm', 'N', column, np.zeros_like, yields_at)


SPRING_TERMS: dict[str, SpringTerm] = {
    'spring': SpringTerm('spring_stiffness', 'Nm/rad', 'N/m', lambda q: q, np.ones_like),
    'balancer_sine': SpringTerm('balancer_sine', 'Nm', 'N', np.sin, np.cos),
    'balancer_cosine': SpringTerm('balancer_cosine', 'Nm', 'N', np.cos, lambda q: -np.sin(q)),
    'slip_fine': _slip('fine_slip_friction', 0.0001),
    'slip_medium': _slip('medium_slip_friction', 0.001),
    'slip_coarse': _slip('coarse_slip_friction', 0.01),
}
"""All terms of springs; a new one is a new entry."""

SPRINGS = {'spring': ('spring',), 'balancer': ('balancer_sine', 'balancer_cosine')}
"""Named sets of terms."""

SLIPS = {'slip': tuple(name for name, term in SPRING_TERMS.items() if term.yields_at)}
"""Named set of the terms of friction with hysteresis."""

SLIP_PARAMETERS = tuple(SPRING_TERMS[name].parameter for name in SLIPS['slip'])
"""Parameters of slips, which must not be negative: such friction would drive the joint."""

SPRING_PARAMETERS = frozenset(term.parameter for term in SPRING_TERMS.values())
"""Last part of the names of all parameters of springs."""


def slip_friction(model: DynamicModel, values: Array) -> Array:
    """Return the friction of the slips of each joint while it slides, shape (n,), in [Nm] or [N].

    :param values: of the parameters of the model, shape (p,)
    """
    by_name = dict(zip((item.name for item in model.parameters), values.tolist(), strict=True))
    return np.array([
        sum(by_name.get(f'{joint}.{name}', 0.0) for name in SLIP_PARAMETERS)
        for joint in model.joint_names
    ])  # fmt: skip


class SpringModel(DynamicModel):
    """Torque of springs at every joint, tau_j = sum over terms of parameter * column(q_j).

    Parameters are ordered joint by joint, in the order of `terms`.
    """

    def __init__(self, *, joints: Sequence[Joint], terms: Sequence[str]) -> None:
        """Build the model.

        :param terms: names in `SPRING_TERMS`, `SPRINGS` or `SLIPS`
        :raises ModelError: no joints, no terms, an unknown term or one named twice
        """
        self.joints = tuple(joints)
        sets = {**SPRINGS, **SLIPS}
        self.terms = tuple(term for name in terms for term in sets.get(name, (name,)))
        if not self.joints or not self.terms:
            raise ModelError('a model of springs needs at least one joint and one term')
        for term in self.terms:
            if term not in SPRING_TERMS or self.terms.count(term) > 1:
                raise ModelError(
                    f'springs have the terms {", ".join(SPRING_TERMS)}, each once, got {term!r}'
                )
        self.parameters = tuple(
            Parameter(
                f'{joint.name}.{SPRING_TERMS[term].parameter}',
                SPRING_TERMS[term].unit_linear
                if joint.type == 'prismatic'
                else SPRING_TERMS[term].unit_rotary,
                joint.name,
            )
            for joint in self.joints
            for term in self.terms
        )
        self.yields = np.array([[SPRING_TERMS[term].yields_at] for term in self.terms])

    @property
    def title(self) -> str:
        """Name for messages."""
        return 'a model of springs'

    @property
    def smooth(self) -> bool:
        """True without slips, whose friction has corners."""
        return not self.slips

    @property
    def slips(self) -> bool:
        """True with slips."""
        return bool(self.yields.any())

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the regressor of consecutive samples, shape (N, n, n * terms)."""
        q, _, _ = self._check_motion(q, qd, qdd)
        joints, terms = np.arange(len(self.joints)), len(self.terms)
        result = np.zeros((len(q), len(joints), len(self.parameters)))
        for index, term in enumerate(self.terms):
            result[:, joints, joints * terms + index] = SPRING_TERMS[term].column(q)
        return result

    def torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Return the torque of every sample, shape (N, n), in [Nm] or [N]."""
        self._check_values(values)
        return self.at(q, values)

    def at(self, q: Array, values: Array) -> Array:
        """Return the torque at positions of shape (N, n) or (n,); without slips for one sample."""
        weights = values.reshape(-1, len(self.terms)).T
        result = np.zeros(q.shape)
        for term, weight in zip(self.terms, weights, strict=True):
            if q.ndim > 1 or not SPRING_TERMS[term].yields_at:
                result += SPRING_TERMS[term].column(q) * weight
        return result

    def torque_function(self, values: Array) -> TorqueFunction:
        """Return the same as a function of single samples, see `DynamicModel.torque_function`."""
        self._check_values(values)
        values = values.copy()
        if self.smooth:
            return lambda q, qd, qdd: self.at(q, values)
        return SlipTorque(self, values)

    def stiffness(self, q: Array, weights: Array) -> Array:
        """Return the derivative by the position of the weighted regressor, shape (N, n).

        :param weights: of the regressor's entries, shape (N, n, p)
        """
        joints, terms = np.arange(len(self.joints)), len(self.terms)
        result = np.zeros(q.shape)
        for index, term in enumerate(self.terms):
            result += weights[:, joints, joints * terms + index] * SPRING_TERMS[term].slope(q)
        return result

    def describe(self) -> dict[str, object]:
        """Return joints and terms."""
        return {
            'kind': 'springs',
            'joints': [{'name': joint.name, 'type': joint.type} for joint in self.joints],
            'terms': list(self.terms),
        }


class SlipTorque:
    """Torque of springs and slips for one sample after the other.

    It remembers the deflection of the slips. They begin as if the joint had moved on at its
    velocity.
    """

    def __init__(self, model: SpringModel, values: Array) -> None:
        self._model, self._values = model, values
        slips = model.yields[:, 0] > 0.0
        self._yields = model.yields[slips]
        self._weights = values.reshape(-1, len(model.terms)).T[slips] / self._yields
        self._ends = np.full(self._weights.shape, np.nan)

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque at the next sample, shape (n,), in [Nm] or [N]."""
        begin = q - self._yields * np.sign(qd)
        ends = np.where(np.isfinite(self._ends), self._ends, begin)
        self._ends = np.clip(ends, q - self._yields, q + self._yields)
        result = self._model.at(q, self._values)
        result += ((q - self._ends) * self._weights).sum(axis=0)
        return result

    def continue_from(self, other: SlipTorque) -> None:
        """Take the deflections of the same model with other values."""
        self._ends = other._ends


def spring_terms(model: DynamicModel) -> tuple[str, ...]:
    """Return the terms of a model's springs; empty: it has none."""
    parts = (part for part, _ in parts_of(model) if isinstance(part, SpringModel))
    return tuple(term for part in parts for term in part.terms)
