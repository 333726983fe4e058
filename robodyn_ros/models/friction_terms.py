# SPDX-License-Identifier: Apache-2.0
"""Friction terms: the factor of each parameter as a function of velocity and load.

A quantity that is not linear, such as the velocity range in which Coulomb friction changes its
sign, is a *shape coefficient*: a part of the model's description, one number per joint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.interface import Array, Joint, Parameter
from robodyn_ros.models.springs import SLIP_PARAMETERS

Coefficients = Mapping[str, Array]

COEFFICIENTS: dict[str, float | None] = {
    'smoothing': None,
    'breakaway_speed': None,
    'threshold': 0.0,
    'reach': float('inf'),
    'exponent': 1.0 / 3.0,
}
"""Shape coefficients and their defaults; None: the description must give the coefficient.

- `smoothing`: velocity scale of the sign change of Coulomb friction, tanh(qd / smoothing)
  (eps of Eq. 10 of document double_encoder)
- `breakaway_speed`: velocity at which Stribeck friction has fallen to a third
- `threshold`: velocity at which viscous friction of the bidirectional law starts (lambda of Eq. 9)
- `reach`: largest recorded velocity; beyond it powers of the velocity continue along their tangent
- `exponent`: exponent of the root, 1/3 by default

All but the last are in [rad/s] or [m/s].
"""


@dataclass(frozen=True)
class FrictionTerm:
    """One term: parameter name, unit per kind of joint, and its column as a function of velocity.

    `column` maps velocities (N, n), in [rad/s] or [m/s], and shape coefficients (n,) to the factor
    (N, n) of the parameter, which may be the velocities themselves. With `load` the factor is
    multiplied by the absolute torque of the rigid body.

    :param needs: required shape coefficients
    :param uses: optional shape coefficients
    :param brakes: the term dissipates energy, so that its parameter is not negative
    :param constant: the column is 1 at every velocity and need not be computed
    """

    parameter: str
    unit_rotary: str
    unit_linear: str
    column: Callable[[Array, Coefficients], Array]
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    brakes: bool = False
    load: bool = False
    constant: bool = False

    def of_joint(self, joint: Joint) -> Parameter:
        """Return the parameter of the term for a joint."""
        unit = self.unit_linear if joint.type == 'prismatic' else self.unit_rotary
        return Parameter(f'{joint.name}.{self.parameter}', unit, joint.name)


def power_with_sign(speed: Array, power: int, reach: Array | float) -> Array:
    """Return sign(speed) |speed|^power, beyond `reach` its tangent, shape (N, n)."""
    inside = np.clip(speed, -reach, reach)
    slope: Array = np.abs(inside) ** (power - 1)
    result: Array = slope * (inside + power * (speed - inside))
    return result


def _smooth_sign(speed: Array, coefficients: Coefficients) -> Array:
    if 'smoothing' in coefficients:
        return np.asarray(np.tanh(speed / coefficients['smoothing']))
    return np.asarray(np.sign(speed))


def _reach(coefficients: Coefficients) -> Array | float:
    return coefficients.get('reach', np.inf)


def _root(speed: Array, coefficients: Coefficients) -> Array:
    exponent = coefficients.get('exponent', COEFFICIENTS['exponent'])
    result: Array = np.sign(speed) * np.abs(speed) ** exponent
    return result


def _breakaway(speed: Array, coefficients: Coefficients) -> Array:
    result: Array = np.sign(speed) * np.exp(-((speed / coefficients['breakaway_speed']) ** 2))
    return result


def _one_sided(side: float, power: int) -> Callable[[Array, Coefficients], Array]:
    """Make a term of Eq. 9 to 11 of document double_encoder; a positive parameter brakes."""

    def column(speed: Array, coefficients: Coefficients) -> Array:
        here = speed >= 0.0 if side > 0.0 else speed < 0.0
        share: Array | float = 1.0
        if power < 2:
            turned = np.tanh(speed / coefficients['smoothing'])
            share = 0.5 * (1.0 + side * turned)
            if power == 0:
                return np.where(here, turned * share, 0.0)
        here &= np.abs(speed) >= coefficients.get('threshold', 0.0)
        return np.where(here, share * power_with_sign(speed, power, _reach(coefficients)), 0.0)

    return column


def _bidirectional() -> dict[str, FrictionTerm]:
    """Make the eight terms of the bidirectional law."""
    units = [('Nm', 'N'), ('Nm s/rad', 'N s/m')]
    units += [(f'Nm s^{power}/rad^{power}', f'N s^{power}/m^{power}') for power in (2, 3)]
    return {
        f'{name}_{side}': FrictionTerm(
            f'{name}_friction_{side}',
            *units[power],
            _one_sided(sign, power),
            needs=('smoothing',) if power < 2 else (),
            uses=('threshold', 'reach') if power else (),
            brakes=power < 2,
        )
        for power, name in enumerate(('coulomb', 'viscous', 'quadratic', 'cubic'))
        for side, sign in (('forward', 1.0), ('backward', -1.0))
    }


TERMS: dict[str, FrictionTerm] = {
    'viscous': FrictionTerm(
        'viscous_friction', 'Nm s/rad', 'N s/m', lambda v, coefficients: v, brakes=True
    ),
    'coulomb': FrictionTerm(
        'coulomb_friction', 'Nm', 'N', lambda v, coefficients: np.sign(v), brakes=True
    ),
    'offset': FrictionTerm(
        'torque_offset', 'Nm', 'N', lambda v, coefficients: np.ones(v.shape), constant=True
    ),
    'quadratic': FrictionTerm(
        'quadratic_friction',
        'Nm s^2/rad^2',
        'N s^2/m^2',
        lambda v, coefficients: power_with_sign(v, 2, _reach(coefficients)),
        uses=('reach',),
    ),
    'root': FrictionTerm('root_friction', 'Nm', 'N', _root, uses=('exponent',), brakes=True),
    'asymmetry': FrictionTerm(
        'viscous_asymmetry', 'Nm s/rad', 'N s/m', lambda v, coefficients: np.asarray(np.abs(v))
    ),
    'smooth_coulomb': FrictionTerm(
        'smooth_coulomb_friction', 'Nm', 'N', _smooth_sign, needs=('smoothing',), brakes=True
    ),
    'breakaway': FrictionTerm(
        'breakaway_friction', 'Nm', 'N', _breakaway, needs=('breakaway_speed',), brakes=True
    ),
    'load': FrictionTerm(
        'load_friction', '1', '1', _smooth_sign, uses=('smoothing',), brakes=True, load=True
    ),
    **_bidirectional(),
}
"""All friction terms; a new one is a new entry. The unit of `root` holds at 1 rad/s."""

DEFAULT_TERMS = ('viscous', 'coulomb', 'offset')

LAWS: dict[str, tuple[str, ...]] = {
    'linear': DEFAULT_TERMS,
    'polynomial': (*DEFAULT_TERMS, 'quadratic'),
    'power': (*DEFAULT_TERMS, 'root'),
    'asymmetric': (*DEFAULT_TERMS, 'asymmetry'),
    'asymmetric_power': (*DEFAULT_TERMS, 'root', 'asymmetry'),
    'smooth': ('viscous', 'smooth_coulomb', 'offset'),
    'smooth_polynomial': ('viscous', 'smooth_coulomb', 'offset', 'quadratic'),
    'smooth_power': ('viscous', 'smooth_coulomb', 'offset', 'root'),
    'smooth_asymmetric': ('viscous', 'smooth_coulomb', 'offset', 'asymmetry'),
    'stribeck': (*DEFAULT_TERMS, 'breakaway'),
    'bidirectional': tuple(_bidirectional()),
}
"""Named sets of terms; the name of a set can be used wherever terms are named."""

AUTO = 'auto'
"""Name for the mean of laws, see `identification.average.candidates`."""

FRICTION_PARAMETERS = frozenset(term.parameter for term in TERMS.values())
"""Last part of the names of all friction parameters."""

BRAKING = (*(term.parameter for term in TERMS.values() if term.brakes), *SLIP_PARAMETERS)
"""Parameters that must not be negative: such friction would drive the joint."""


def expand_laws(names: tuple[str, ...]) -> tuple[str, ...]:
    """Replace the names of laws by their terms."""
    return tuple(term for name in names for term in LAWS.get(name, (name,)))
