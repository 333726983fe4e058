# SPDX-License-Identifier: Apache-2.0
"""SCARA robots with three or four axes: eight parameters of the softMC document."""

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
    components,
    functions,
)
from robodyn_ros.models.interface import GRAVITY, Array, Parameter
from robodyn_ros.schema import Finite, Positive


@dataclass(frozen=True)
class ScaraGeometry:
    """Arms and senses of a SCARA robot.

    :param L1: length of the first arm, in [m]
    :param s4: 1 if axis 4 turns as axes 1 and 2, -1 if opposite
    :param z_sense: 1 if axis 3 counts upwards, -1 if downwards
    """

    L1: Positive
    L2: Positive
    s4: Finite = 1.0
    z_sense: Finite = 1.0

    def __post_init__(self) -> None:
        """Check the senses."""
        for name in ('s4', 'z_sense'):
            if abs(getattr(self, name)) != 1.0:
                raise ModelError(
                    f'"{name}" in the geometry of a scara is 1 or -1, got {getattr(self, name):g}'
                )


class ScaraModel(ClosedFormModel):
    """SCARA robot, softMC document, section 5.4; axes rotary, rotary, linear z, rotary.

    The document gives the parameters; with a4 = s4 qdd4, c = cos q2, s = sin q2 they mean::

        tau1 = P1 qdd1 + (P2 + P7)(qdd1 + qdd2) + P7 a4
             + P4 [c (2 qdd1 + qdd2) - s (2 qd1 qd2 + qd2^2)]
             + P5 [(L1^2 + L2^2 + 2 L1 L2 c) qdd1 + (L2^2 + L1 L2 c) qdd2
                   - L1 L2 s (2 qd1 qd2 + qd2^2)]
        tau2 = (P2 + P7)(qdd1 + qdd2) + P7 a4 + P3 qdd2 + P4 (c qdd1 + s qd1^2)
             + P5 [(L2^2 + L1 L2 c) qdd1 + L2^2 qdd2 + L1 L2 s qd1^2]
        F3   = P5 qdd3 + z_sense P6
        tau4 = s4 P7 (qdd1 + qdd2 + a4) + P8 qdd4

    J2 and J4 are reflected rotor inertias. With four axes all eight are identifiable; with three,
    six combinations: P7 adds to P2, and P8 has no effect. P1 to P4 may be negative.
    """

    kind = 'scara'

    def __init__(
        self,
        *,
        joints: Sequence[str],
        geometry: Mapping[str, float],
        dynamic_model: int = 1,
        gravity: float = GRAVITY,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        """Build the model.

        :param gravity: [m/s^2]; for payloads only, P6 contains it
        :raises ModelError: wrong joints, geometry or dynamic model
        """
        self.dynamic_model = check_choice('scara', dynamic_model, (1,))
        axes = build_joints(
            'scara', joints, ['revolute', 'revolute', 'prismatic', 'revolute'], least=3
        )
        self.geometry = check_geometry('scara', geometry, ScaraGeometry)
        self.gravity = float(gravity)
        names = [axis.name for axis in axes]
        last = names[3] if len(names) > 3 else ''
        self._set(
            joints=axes,
            parameters=(
                Parameter('(L1^2*M2+I1)', 'kg m^2', names[0]),
                Parameter('(A2^2*M2+I2)', 'kg m^2', names[1]),
                Parameter('J2', 'kg m^2', names[1]),
                Parameter('L1*A2*M2', 'kg m^2', names[1]),
                Parameter('M3', 'kg', names[2]),
                Parameter('g*M3', 'N', names[2]),
                Parameter('I4', 'kg m^2', last),
                Parameter('J4', 'kg m^2', last),
            ),
            settings={'geometry': asdict(self.geometry), 'gravity': self.gravity},
            prior=prior,
        )

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressor, shape (N, n, 8)."""
        q, qd, qdd = self._check_motion(q, qd, qdd)
        geometry = self.geometry
        lengths = geometry.L1 * geometry.L2
        result = np.zeros((len(q), len(self.joints), 8))
        first, second = result[:, 0], result[:, 1]
        angle, (qd1, qd2) = components(q[:, 1:2])[0], components(qd[:, :2])
        qdd1, qdd2, qdd3, *last = components(qdd)
        cos, sin = functions(angle).cos(angle), functions(angle).sin(angle)
        both = qdd1 + qdd2
        # The coupling inertia of the arms varies with cos q2; its change acts on both joints.
        first[:, 3] = shared1 = cos * (qdd1 + both) - sin * (qd2 * (2.0 * qd1 + qd2))
        second[:, 3] = shared2 = cos * qdd1 + sin * (qd1 * qd1)
        outer = geometry.L2**2 * both
        first[:, 4] = geometry.L1**2 * qdd1 + outer + lengths * shared1
        second[:, 4] = outer + lengths * shared2
        first[:, 0] = qdd1
        first[:, 1] = second[:, 1] = turning = both
        second[:, 2] = qdd2
        result[:, 2, 4] = qdd3
        result[:, 2, 5] = geometry.z_sense
        if last:
            turning = both + geometry.s4 * last[0]
            result[:, 3, 6] = geometry.s4 * turning
            result[:, 3, 7] = last[0]
        first[:, 6] = second[:, 6] = turning
        return result

    def payload_matrix(self, values: Array) -> Array:
        """Return how a payload changes parameter values, shape (8, 2); see `ClosedFormModel`.

        Exact: M3 += mass, g M3 += g mass, I4 += inertia about axis 4 (payload centred on it).
        """
        self._check_values(values)
        result = np.zeros((8, 2))
        result[4, 0], result[5, 0], result[6, 1] = 1.0, self.gravity, 1.0
        return result
