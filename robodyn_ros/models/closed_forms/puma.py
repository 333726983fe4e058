# SPDX-License-Identifier: Apache-2.0
"""PUMA robots: the full model of the softMC document, and its semi-static one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.closed_forms.closed_form import (
    ClosedFormModel,
    build_joints,
    check_choice,
    check_geometry,
)
from robodyn_ros.models.closed_forms.puma_inertia import (
    GRAVITY_NAMES,
    JOINTS,
    NAMES,
    ROTOR_NAMES,
    torque_table,
)
from robodyn_ros.models.interface import GRAVITY, Array, Joint, Parameter, sample_blocks
from robodyn_ros.schema import Finite


@dataclass(frozen=True)
class PumaGeometry:
    """Lengths [m] of the modified Denavit-Hartenberg frames of a PUMA.

    Rows (alpha, a, d): (0, 0, 0), (-90, 0, d2), (0, a2, d3), (90, a3, d4), (-90, 0, 0) and
    (90, 0, 0).
    """

    a2: Finite
    a3: Finite
    d2: Finite
    d3: Finite
    d4: Finite


FOLLOWING = ('I13', 'I15', 'I18', 'I21', 'I22', 'g2', 'g4', 'g5')
"""Parameters that follow from others if the kinematics are known."""


class PumaModel(ClosedFormModel):
    """PUMA, dynamic model 1: inertias I1..I23, rotors Im1..Im6, gravity g1..g5.

    Armstrong, Khatib and Burdick, "The explicit dynamic model and inertial parameters of the PUMA
    560 arm" (1986), see `puma_inertia`. The document's list has I1..I23 only; without rotors and
    gravity joints 2 to 6 cannot be described. It holds for Armstrong's robot: diagonal inertias,
    I6xx = I6yy and centres of mass where the constants below put them.

    Of the 34 parameters 32 combinations are identifiable: Im1 adds to I1, Im2 to I2. With a
    geometry, eight parameters follow from the others (`relations`), the regressor has 26 columns,
    and 24 combinations remain::

        I13 = I12 (d2 + d3)/a2    I15 = I16 d4/a2    I18 = I16 (d2 + d3)/a2    I22 = I16 a3/a2
        I21 = -I19 - I20    g2 = -G I5/a2    g4 = -G I12/a2    g5 = -G I16/a2
    """

    kind = 'puma'
    dynamic_model = 1

    def __init__(
        self,
        *,
        joints: Sequence[str],
        geometry: Mapping[str, float] | None = None,
        gravity: float = GRAVITY,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        """Build the model.

        :param geometry: see `PumaGeometry`; default: unknown, all parameters are independent
        :param gravity: G [m/s^2]; used with a geometry only
        :raises ModelError: wrong joints or geometry
        """
        axes = _joints(joints)
        known = None if geometry is None else check_geometry('puma', geometry, PumaGeometry)
        gravity = float(gravity)
        self.relations = np.eye(len(NAMES)) if known is None else _relations(known, gravity)
        named = tuple(_parameter(name, axes) for name in NAMES)
        self._set(
            joints=axes,
            parameters=[item for item in named if known is None or item.name not in FOLLOWING],
            settings={'geometry': known and asdict(known), 'gravity': gravity if known else None},
            prior=prior,
        )
        self.named_parameters = named
        from scipy import sparse  # takes half a second, which nodes of other robots save

        self._table = torque_table()
        width = len(self.parameters)
        weights = self._table.weights.reshape(JOINTS, len(NAMES), -1)
        weights = np.einsum('ikf,kp->ipf', weights, self.relations)
        self._weights = sparse.csr_matrix(weights.reshape(JOINTS * width, -1))

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressor, shape (N, 6, 34), or (N, 6, 26) with a geometry."""
        q, qd, qdd = self._check_motion(q, qd, qdd)
        result = np.empty((len(q), JOINTS, len(self.parameters)))
        for block in sample_blocks(len(q)):
            rows = self._weights @ self._features(q[block], qd[block], qdd[block])
            result[block] = rows.T.reshape(-1, JOINTS, len(self.parameters))
        return result

    def _features(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute waves of the positions times products of the motion, shape (features, N)."""
        table = self._table
        angles = table.modes @ q.T
        waves = np.concatenate([np.cos(angles), np.sin(angles)])
        motion = np.ones((1 + 2 * JOINTS, len(q)))
        motion[1 : 1 + JOINTS], motion[1 + JOINTS :] = qd.T, qdd.T
        result: Array = waves[table.wave] * (motion[table.left] * motion[table.right])
        return result

    def compute_named(self, values: Array) -> Array:
        """Return all 34 named values, shape (34,), of parameter values."""
        return np.asarray(self.relations @ values, dtype=np.float64)

    def values_of(self, named: Array) -> Array:
        """Return parameter values, shape (34,) or (26,), of all 34 named ones.

        :raises ModelError: not 34, or values that contradict the known kinematics
        """
        named = np.asarray(named, dtype=np.float64)
        if named.shape != (len(NAMES),):
            raise ModelError(f'a puma has {len(NAMES)} named parameters, got {named.size} values')
        order = [item.name for item in self.parameters]
        values = np.array([named[NAMES.index(name)] for name in order])
        following = self.relations @ values
        wrong = np.abs(following - named) > 1e-6 * np.abs(named).max()
        if wrong.any():
            first = int(wrong.argmax())
            raise ModelError(
                f'{NAMES[first]} = {named[first]:.6g} of a puma does not follow from its geometry '
                f'and the other parameters, which give {following[first]:.6g}'
            )
        return values

    def payload_matrix(self, values: Array) -> Array:
        """Refuse: every parameter mixes masses and lengths of several links."""
        raise ModelError(
            f'dynamic model {self.label} cannot carry a payload: each of its parameters '
            f'mixes masses and lengths of several links; use dynamic model 2'
        )


class PumaGravityModel(ClosedFormModel):
    """PUMA, dynamic model 2: gravity of a slow motion; friction is added as to any model.

    softMC document, section 5.4, with its misprints corrected; frames as `PumaGeometry`::

        tau2 = -P1 cos q2 - P2 cos(q2 + q3) - P3 sin(q2 + q3) - P4 w + P5 sin q2
        tau3 = -P2 cos(q2 + q3) - P3 sin(q2 + q3) - P4 w
        tau4 = P4 sin(q2 + q3) sin q4 sin q5
        tau5 = -P4 (cos(q2 + q3) sin q5 + sin(q2 + q3) cos q4 cos q5)
        w = sin(q2 + q3) cos q5 + cos(q2 + q3) cos q4 sin q5

    P5 = g m2 l2y is not in the document; it is an option (`fifth_term`).
    """

    kind = 'puma'
    semi_static = True
    dynamic_model = 2

    def __init__(
        self,
        *,
        joints: Sequence[str],
        fifth_term: bool = False,
        geometry: Mapping[str, float] | None = None,
        gravity: float = GRAVITY,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        """Build the model.

        :param fifth_term: whether to add P5
        :param geometry: see `PumaGeometry`; needed for payloads only
        :param gravity: g [m/s^2]; for payloads only
        :raises ModelError: wrong joints or geometry
        """
        axes = _joints(joints)
        self.geometry: PumaGeometry | None = None
        if geometry is not None:
            self.geometry = check_geometry('puma', geometry, PumaGeometry)
        self.gravity = float(gravity)
        names = GRAVITY_TERMS if fifth_term else GRAVITY_TERMS[:4]
        self._set(
            joints=axes,
            parameters=[Parameter(name, 'kg m^2/s^2', axes[axis].name) for name, axis in names],
            settings={
                'fifth_term': fifth_term or None,
                'geometry': self.geometry and asdict(self.geometry),
                'gravity': self.gravity,
            },
            prior=prior,
        )

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressor, shape (N, 6, 4), or (N, 6, 5) with the fifth term."""
        q, qd, qdd = self._check_motion(q, qd, qdd)
        result = np.zeros((len(q), JOINTS, len(self.parameters)))
        second, third = result[:, 1], result[:, 2]
        forearm = q[:, 1] + q[:, 2]
        c23, s23 = np.cos(forearm), np.sin(forearm)
        (c4, c5), (s4, s5) = np.cos(q[:, 3:5]).T, np.sin(q[:, 3:5]).T
        second[:, 0] = -np.cos(q[:, 1])
        second[:, 1] = third[:, 1] = -c23
        second[:, 2] = third[:, 2] = -s23
        second[:, 3] = third[:, 3] = -(s23 * c5 + c23 * c4 * s5)
        result[:, 3, 3] = s23 * s4 * s5
        result[:, 4, 3] = -(c23 * s5 + s23 * c4 * c5)
        if len(self.parameters) > 4:
            second[:, 4] = np.sin(q[:, 1])
        return result

    def payload_matrix(self, values: Array) -> Array:
        """Return how a payload changes parameter values, shape (p, 2); see `ClosedFormModel`.

        The payload's mass acts at the centre of the wrist; its inertia has no effect at rest.

        :raises ModelError: the model was built without a geometry
        """
        self._check_values(values)
        if self.geometry is None:
            raise ModelError('dynamic model 2 of a puma needs a geometry to carry a payload')
        result = np.zeros((len(values), 2))
        geometry = self.geometry
        result[:3, 0] = self.gravity * np.array([geometry.a2, geometry.a3, geometry.d4])
        return result


GRAVITY_TERMS = (
    ('g*(m2*l2x+a2*(m3+m4+m5+m6))', 1),
    ('g*a3*(m4+m5+m6)', 2),
    ('g*(-m3*l3y+m4*(l4z+d4)+d4*(m5+m6))', 2),
    ('g*m6*l6z', 4),
    ('g*m2*l2y', 1),
)
"""Parameters of dynamic model 2, each with the index of its axis."""


def puma_model(*, dynamic_model: int, **options: object) -> ClosedFormModel:
    """Build a PUMA of the given dynamic model; options as of `PumaModel` or `PumaGravityModel`.

    :raises ModelError: an unknown dynamic model, or an option of the other one
    """
    if check_choice('puma', dynamic_model, (1, 2)) == 2:
        return PumaGravityModel(**options)  # type: ignore[arg-type]
    if 'fifth_term' in options:
        raise ModelError('dynamic model 1 of a puma has no "fifth_term", its g3 is that term')
    return PumaModel(**options)  # type: ignore[arg-type]


def _joints(names: Sequence[str]) -> tuple[Joint, ...]:
    return build_joints('puma', names, ['revolute'] * JOINTS)


def _parameter(name: str, axes: tuple[Joint, ...]) -> Parameter:
    if name in GRAVITY_NAMES:
        return Parameter(name, 'kg m^2/s^2')
    rotor = name in ROTOR_NAMES
    return Parameter(name, 'kg m^2', axes[int(name[2:]) - 1].name if rotor else '')


def _relations(geometry: PumaGeometry, gravity: float) -> Array:
    """Return the matrix (34, 26) that gives all parameters from the independent ones."""
    a2, a3, d4 = geometry.a2, geometry.a3, geometry.d4
    if a2 == 0.0:
        raise ModelError('"a2" in the geometry of a puma must not be 0')
    offset = geometry.d2 + geometry.d3
    rules = {
        'I13': {'I12': offset / a2},
        'I15': {'I16': d4 / a2},
        'I18': {'I16': offset / a2},
        'I21': {'I19': -1.0, 'I20': -1.0},
        'I22': {'I16': a3 / a2},
        'g2': {'I5': -gravity / a2},
        'g4': {'I12': -gravity / a2},
        'g5': {'I16': -gravity / a2},
    }
    full = np.eye(len(NAMES))
    for name, rule in rules.items():
        full[NAMES.index(name)] = 0.0
        for other, factor in rule.items():
            full[NAMES.index(name), NAMES.index(other)] = factor
    return full[:, [name not in FOLLOWING for name in NAMES]]
