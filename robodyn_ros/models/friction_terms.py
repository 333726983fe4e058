"""Friction terms: what each parameter is multiplied with, by velocity, shape figures and load.

Every term is linear in its own parameter. What is not linear in friction, the velocity over which
Coulomb friction turns round for example, is a *figure*: it stands in the model's description, one
number per joint, and is found by an outer search (`identification.friction.law_fit`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.interface import Array

Figures = Mapping[str, Array]

FIGURES: dict[str, float | None] = {
    'smoothing': None,
    'breakaway_speed': None,
    'threshold': 0.0,
    'reach': float('inf'),
    'exponent': 1.0 / 3.0,
}
"""Shape figures and what they are where a description does not say; None: it must.

`smoothing`: velocity over which Coulomb friction turns round, tanh(qd / smoothing) (eps of
Eq. 10 of document double_encoder). `breakaway_speed`: velocity by which Stribeck friction has
fallen to a third. `threshold`: viscous friction of the bidirectional law begins there (lambda of
Eq. 9). `reach`: largest velocity that was recorded; beyond it powers of the velocity go on along
their tangent, as nobody has seen them there. `exponent`: of the root, 1/3 by default. All but
the last in [rad/s] or [m/s].
"""


@dataclass(frozen=True)
class FrictionTerm:
    """One term: parameter name and unit per kind of joint, and its column from velocities.

    `column` maps velocities (N, n), in [rad/s] or [m/s], and figures (n,) to the factor (N, n) of
    the parameter, which may be the velocities themselves; with `load` that is multiplied with the
    absolute torque of the rigid body.

    :param needs: figures that it cannot do without
    :param uses: figures that change it where there are any
    :param brakes: it takes energy and never gives it, so that its parameter is not negative
    :param constant: its column is one at every velocity: there is nothing to compute
    """

    parameter: str
    unit_rotary: str
    unit_linear: str
    column: Callable[[Array, Figures], Array]
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    brakes: bool = False
    load: bool = False
    constant: bool = False


def powered(speed: Array, power: int, reach: Array | float) -> Array:
    """Velocity to a power with its own sign; beyond `reach` along the tangent, shape (N, n)."""
    inside = np.clip(speed, -reach, reach)
    slope: Array = np.abs(inside) ** (power - 1)
    result: Array = slope * (inside + power * (speed - inside))
    return result


def _smooth_sign(speed: Array, figures: Figures) -> Array:
    if 'smoothing' in figures:
        return np.asarray(np.tanh(speed / figures['smoothing']))
    return np.asarray(np.sign(speed))


def _reach(figures: Figures) -> Array | float:
    return figures.get('reach', np.inf)


def _root(speed: Array, figures: Figures) -> Array:
    exponent = figures.get('exponent', FIGURES['exponent'])
    result: Array = np.sign(speed) * np.abs(speed) ** exponent
    return result


def _breakaway(speed: Array, figures: Figures) -> Array:
    result: Array = np.sign(speed) * np.exp(-((speed / figures['breakaway_speed']) ** 2))
    return result


def _one_sided(side: float, power: int) -> Callable[[Array, Figures], Array]:
    """Term of the bidirectional law, Eq. 9 to 11 of document double_encoder.

    The signs are turned so that a positive parameter brakes in either direction.
    """

    def column(speed: Array, figures: Figures) -> Array:
        here = speed >= 0.0 if side > 0.0 else speed < 0.0
        share: Array | float = 1.0
        if power < 2:
            turned = np.tanh(speed / figures['smoothing'])
            share = 0.5 * (1.0 + side * turned)
            if power == 0:
                return np.where(here, turned * share, 0.0)
        here &= np.abs(speed) >= figures.get('threshold', 0.0)
        return np.where(here, share * powered(speed, power, _reach(figures)), 0.0)

    return column


def _bidirectional() -> dict[str, FrictionTerm]:
    """Eight terms of the bidirectional law."""
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
        'viscous_friction', 'Nm s/rad', 'N s/m', lambda v, figures: v, brakes=True
    ),
    'coulomb': FrictionTerm(
        'coulomb_friction', 'Nm', 'N', lambda v, figures: np.sign(v), brakes=True
    ),
    'offset': FrictionTerm(
        'torque_offset', 'Nm', 'N', lambda v, figures: np.ones(v.shape), constant=True
    ),
    'quadratic': FrictionTerm(
        'quadratic_friction',
        'Nm s^2/rad^2',
        'N s^2/m^2',
        lambda v, figures: powered(v, 2, _reach(figures)),
        uses=('reach',),
    ),
    'root': FrictionTerm('root_friction', 'Nm', 'N', _root, uses=('exponent',), brakes=True),
    'asymmetry': FrictionTerm(
        'viscous_asymmetry', 'Nm s/rad', 'N s/m', lambda v, figures: np.asarray(np.abs(v))
    ),
    'smooth_coulomb': FrictionTerm(
        'smooth_coulomb_friction', 'Nm', 'N', _smooth_sign, needs=('smoothing',), brakes=True
    ),
    'breakaway': FrictionTerm(
        'breakaway_friction', 'Nm', 'N', _breakaway, needs=('breakaway_speed',)
    ),
    'load': FrictionTerm(
        'load_friction', '1', '1', _smooth_sign, uses=('smoothing',), brakes=True, load=True
    ),
    **_bidirectional(),
}
"""Every friction term there is; a new one is a new entry. The root's unit is that at 1 rad/s."""

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
"""Sets of terms that have a name; it may stand for them wherever terms are named."""

AUTO = 'auto'
"""Stands for the law that cross-validation favours, see `identification.friction.law_fit`."""

FRICTION_PARAMETERS = frozenset(term.parameter for term in TERMS.values())
"""Last part of the names of all parameters that are friction."""

BRAKING = tuple(term.parameter for term in TERMS.values() if term.brakes)
"""Parameters that must not be negative: such friction would drive the joint."""


def expanded(names: tuple[str, ...]) -> tuple[str, ...]:
    """Terms that names of terms and laws stand for."""
    return tuple(term for name in names for term in LAWS.get(name, (name,)))
