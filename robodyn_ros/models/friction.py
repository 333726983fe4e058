"""Joint friction that is linear in its parameters: one more model, added to the rigid body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array, DynamicModel, Joint, Parameter


@dataclass(frozen=True)
class FrictionTerm:
    """One term: parameter name and unit per kind of joint, and its column from velocities.

    `column` maps velocities (N, n), in [rad/s] or [m/s], to the factor (N, n) of the parameter.
    """

    parameter: str
    unit_rotary: str
    unit_linear: str
    column: Callable[[Array], Array]


TERMS: dict[str, FrictionTerm] = {
    'viscous': FrictionTerm('viscous_friction', 'Nm s/rad', 'N s/m', np.positive),
    'coulomb': FrictionTerm('coulomb_friction', 'Nm', 'N', np.sign),
    'offset': FrictionTerm('torque_offset', 'Nm', 'N', np.ones_like),
    'quadratic': FrictionTerm(
        'quadratic_friction', 'Nm s^2/rad^2', 'N s^2/m^2', lambda speed: speed * abs(speed)
    ),
}
"""Every friction term there is; a new one is a new entry."""

DEFAULT_TERMS = ('viscous', 'coulomb', 'offset')


class FrictionModel(DynamicModel):
    """Friction of every joint, tau_j = sum over terms of parameter * column(qd_j).

    Default: viscous, Coulomb and a constant offset, as in Swevers, Verdonck and De Schutter,
    "Dynamic model identification for industrial robots" (2007), Eq. 5. Parameters are ordered
    joint by joint, in the order of `terms`.
    """

    def __init__(self, *, joints: Sequence[Joint], terms: Sequence[str] = DEFAULT_TERMS) -> None:
        """Build the model.

        :raises ModelError: no joints, no terms, an unknown term or one named twice
        """
        self.joints = tuple(joints)
        self.terms = tuple(terms)
        if not self.joints:
            raise ModelError('a friction model needs at least one joint')
        _check_terms(self.terms)
        self.parameters = tuple(
            Parameter(
                name=f'{joint.name}.{TERMS[term].parameter}',
                unit=TERMS[term].unit_linear
                if joint.type == 'prismatic'
                else TERMS[term].unit_rotary,
                joint=joint.name,
            )
            for joint in self.joints
            for term in self.terms
        )

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Regressor, shape (N, n, n * terms); depends on the velocities only.

        :raises ModelError: the velocities are not of shape (N, n)
        """
        qd = np.asarray(qd, dtype=np.float64)
        count, terms, width = len(self.joints), len(self.terms), len(self.parameters)
        if qd.ndim != 2 or qd.shape[1] != count:
            raise ModelError(
                f'friction of {count} joints needs velocities (N, {count}), got {qd.shape}'
            )
        result = np.zeros((len(qd), count, width))
        rows = result.reshape(len(qd), count * width)
        for index, term in enumerate(self.terms):
            # From one joint to the next: one row down and one group of terms to the right.
            rows[:, index :: width + terms] = TERMS[term].column(qd)
        return result

    def describe(self) -> dict[str, object]:
        """Joints and terms."""
        return {
            'kind': 'friction',
            'joints': [{'name': joint.name, 'type': joint.type} for joint in self.joints],
            'terms': list(self.terms),
        }


def _check_terms(terms: tuple[str, ...]) -> None:
    if not terms:
        raise ModelError(f'a friction model needs at least one term of {", ".join(TERMS)}')
    for term in terms:
        if term not in TERMS:
            raise ModelError(f'there is no friction term "{term}", there are {", ".join(TERMS)}')
        if terms.count(term) > 1:
            raise ModelError(f'friction term "{term}" is named twice')
