# SPDX-License-Identifier: Apache-2.0
"""Springs and balancers at the joints: torque that depends on the joint's own position.

A torsion spring has the torque k (q - q0); its k q0 is the torque offset of friction. A spring on
a lever that turns with the joint has a torque that is close to a sine of the position (Siciliano
and Khatib, "Springer Handbook of Robotics", 2016, section 4.8, on static balancing).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """One term: parameter name, units, and its column as a function of the position."""

    parameter: str
    unit_rotary: str
    unit_linear: str
    column: Callable[[Array], Array]
    slope: Callable[[Array], Array]


SPRING_TERMS: dict[str, SpringTerm] = {
    'spring': SpringTerm('spring_stiffness', 'Nm/rad', 'N/m', lambda q: q, np.ones_like),
    'balancer_sine': SpringTerm('balancer_sine', 'Nm', 'N', np.sin, np.cos),
    'balancer_cosine': SpringTerm('balancer_cosine', 'Nm', 'N', np.cos, lambda q: -np.sin(q)),
}
"""All terms of springs; a new one is a new entry."""

SPRINGS = {'spring': ('spring',), 'balancer': ('balancer_sine', 'balancer_cosine')}
"""Named sets of terms."""

SPRING_PARAMETERS = frozenset(term.parameter for term in SPRING_TERMS.values())
"""Last part of the names of all parameters of springs."""


class SpringModel(DynamicModel):
    """Torque of springs at every joint, tau_j = sum over terms of parameter * column(q_j).

    Parameters are ordered joint by joint, in the order of `terms`.
    """

    def __init__(self, *, joints: Sequence[Joint], terms: Sequence[str]) -> None:
        """Build the model.

        :param terms: names in `SPRING_TERMS` or `SPRINGS`
        :raises ModelError: no joints, no terms, an unknown term or one named twice
        """
        self.joints = tuple(joints)
        self.terms = tuple(term_name for name in terms for term_name in SPRINGS.get(name, (name,)))
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

    @property
    def title(self) -> str:
        """Name for messages."""
        return 'a model of springs'

    @property
    def smooth(self) -> bool:
        """True: positions are smooth."""
        return True

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the regressor, shape (N, n, n * terms), a function of positions."""
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
        """Return the torque at positions of shape (N, n) or (n,), for use in a control cycle."""
        weights = values.reshape(-1, len(self.terms)).T
        result = np.zeros(q.shape)
        for term, weight in zip(self.terms, weights, strict=True):
            result += SPRING_TERMS[term].column(q) * weight
        return result

    def torque_function(self, values: Array) -> TorqueFunction:
        """Return the same as a function of single samples, see `DynamicModel.torque_function`."""
        self._check_values(values)
        values = values.copy()
        return lambda q, qd, qdd: self.at(q, values)

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


def spring_terms(model: DynamicModel) -> tuple[str, ...]:
    """Return the terms of a model's springs; empty: it has none."""
    parts = (part for part, _ in parts_of(model) if isinstance(part, SpringModel))
    return tuple(term for part in parts for term in part.terms)
