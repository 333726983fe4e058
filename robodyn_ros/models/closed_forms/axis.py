# SPDX-License-Identifier: Apache-2.0
"""Single axes: three rotary and two linear models of the softMC document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.closed_forms.closed_form import (
    ClosedFormModel,
    build_joints,
    check_choice,
)
from robodyn_ros.models.interface import Array, JointType, Parameter

_INERTIA = Parameter('I', 'kg m^2')
_SQUARE = Parameter('L^2', 'm^2')
_MASS = Parameter('M', 'kg')
_JOINT_TYPES: dict[str, JointType] = {'rotary': 'revolute', 'linear': 'prismatic'}


@dataclass(frozen=True)
class _Form:
    """One model: parameters, columns (N, p), and the lever arm of each that a payload changes."""

    parameters: tuple[Parameter, ...]
    columns: Callable[[Array, Array, float], tuple[Array, ...]]
    carried: Mapping[int, int | None]


_FORMS: dict[tuple[str, int], _Form] = {
    ('rotary', 1): _Form((_INERTIA,), lambda q, qdd, mass: (qdd,), {}),
    ('rotary', 2): _Form((_INERTIA, _SQUARE), lambda q, qdd, mass: (qdd, mass * qdd), {0: 1}),
    ('rotary', 3): _Form(
        (
            _INERTIA,
            _SQUARE,
            Parameter('M*g*A', 'kg m^2/s^2'),
            Parameter('g*L', 'm^2/s^2'),
        ),
        lambda q, qdd, mass: (qdd, mass * qdd, -np.sin(q), -mass * np.sin(q)),
        {0: 1, 2: 3},
    ),
    ('linear', 1): _Form((_MASS,), lambda q, qdd, mass: (qdd,), {0: None}),
    ('linear', 2): _Form(
        (
            _MASS,
            Parameter('M*g*cos(alpha)', 'N'),
            Parameter('g*cos(alpha)', 'm/s^2'),
        ),
        lambda q, qdd, mass: (qdd, np.ones_like(q), np.full_like(q, mass)),
        {0: None, 1: 2},
    ),
}


class AxisModel(ClosedFormModel):
    """One rotary or linear axis, softMC document, section 5.4.

    Rotary 1 (simple), 2 (horizontal crank arm), 3 (vertical crank arm), linear 1 (horizontal), 2
    (vertical or tilted)::

        tau = (I + I_payload + L^2 M_payload) qdd - (M g A + M_payload g L) sin q
        tau = (M + M_payload) qdd + M g cos(alpha) + M_payload g cos(alpha)

    The part of a known payload's torque that no parameter of the document multiplies, I_payload
    qdd or M_payload qdd, is a separate column. Without payload L^2, g L and g cos(alpha) have no
    effect.
    """

    kind = 'axis'

    def __init__(
        self,
        *,
        type: Literal['rotary', 'linear'],
        joints: Sequence[str],
        dynamic_model: int,
        payload_mass: float = 0.0,
        payload_inertia: float = 0.0,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        """Build the model.

        :param dynamic_model: 1 to 3 (rotary), 1 or 2 (linear)
        :param payload_mass: M_payload [kg]
        :param payload_inertia: I_payload [kg m^2] about its centre; rotary only
        :raises ModelError: an unknown dynamic model, not one joint, or a payload that the axis
            cannot carry
        """
        known = [item for name, item in _FORMS if name == type]
        self.type = type
        self.dynamic_model = check_choice(f'{type} axis', dynamic_model, known)
        self._form = _FORMS[type, dynamic_model]
        self.payload_mass, self.payload_inertia = float(payload_mass), float(payload_inertia)
        if type == 'linear' and self.payload_inertia:
            raise ModelError('a linear axis has no payload_inertia, only a payload_mass')
        extra = self._payload_parameters()
        self._set(
            joints=build_joints('axis', joints, [_JOINT_TYPES[type]]),
            parameters=(*self._form.parameters, *extra),
            settings={
                'type': type,
                'payload_mass': self.payload_mass or None,
                'payload_inertia': self.payload_inertia or None,
            },
            prior=prior,
        )
        self.named_parameters = self._form.parameters
        for item, value in extra.items():
            self._prior[self.parameters.index(item)] = value

    def _payload_parameters(self) -> dict[Parameter, float]:
        if self.payload_inertia:
            return {Parameter('I_payload', 'kg m^2'): self.payload_inertia}
        if self.type == 'linear' and self.payload_mass:
            return {Parameter('M_payload', 'kg'): self.payload_mass}
        return {}

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressor, shape (N, 1, p)."""
        q, qd, qdd = self._check_motion(q, qd, qdd)
        result = np.empty((len(q), 1, len(self.parameters)))
        columns = self._form.columns(q, qdd, self.payload_mass)
        for index, column in enumerate(columns):
            result[:, :, index] = column
        if len(columns) < len(self.parameters):
            result[:, :, -1] = qdd
        return result

    def compute_named(self, values: Array) -> Array:
        """Return the values of the document's parameters, without those of the known payload."""
        return np.array(values[: len(self.named_parameters)], dtype=np.float64)

    def payload_matrix(self, values: Array) -> Array:
        """Return how a payload changes parameter values, shape (p, 2); see `ClosedFormModel`."""
        self._check_values(values)
        result = np.zeros((len(values), 2))
        for index, lever in self._form.carried.items():
            result[index, 0] = 1.0 if lever is None else values[lever]
        if self.type == 'rotary':
            result[0, 1] = 1.0
        return result
