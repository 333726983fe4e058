# SPDX-License-Identifier: Apache-2.0
"""DELTA robots with three or four axes: fourteen named parameters of the softMC document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.closed_forms.closed_form import (
    ClosedFormModel,
    Number,
    build_joints,
    check_choice,
    check_geometry,
    components,
    functions,
)
from robodyn_ros.models.closed_forms.delta_kinematics import (
    ARMS,
    DeltaGeometry,
    DeltaMotion,
    ShaftGeometry,
    Vector,
    combine,
    delta_motion,
    dot,
    times,
    total,
    working_range,
)
from robodyn_ros.models.closed_forms.delta_shaft import shaft_forces
from robodyn_ros.models.interface import GRAVITY, Array, Parameter, sample_blocks
from robodyn_ros.schema import Finite, Positive


@dataclass(frozen=True)
class PlatformForce:
    """Radius [m] beyond which C_r acts, and the largest force [N] that it causes."""

    R_ext: Finite
    Fr_max: Positive


NAMED = (
    Parameter('Theta_AB', 'kg m^2'),
    Parameter('g*L_AB*M_AB', 'kg m^2/s^2'),
    Parameter('M_BC', 'kg'),
    Parameter('Theta_BC', 'kg m^2'),
    Parameter('M_P', 'kg'),
    Parameter('M_T', 'kg'),
    Parameter('Theta_T', 'kg m^2'),
    Parameter('Theta_Tphi', 'kg m^2'),
    Parameter('L_TO', 'm'),
    Parameter('L_TP', 'm'),
    Parameter('D', 'N s/m'),
    Parameter('C_r', 'N/m'),
    Parameter('Fr_max', 'N'),
    Parameter('R_ext', 'm'),
)
_SHAFT_INERTIA = '(M_T*(L_TO^2+L_TP^2)+2*Theta_T)'
_ROBOT, _FORCE = NAMED[:5], NAMED[10:12]
_SHAFT = (
    NAMED[5],
    Parameter('M_T*L_TO', 'kg m'),
    Parameter('M_T*L_TP', 'kg m'),
    Parameter(_SHAFT_INERTIA, 'kg m^2'),
    NAMED[7],
)


class DeltaModel(ClosedFormModel):
    """DELTA robot; three arms, and as fourth axis a telescopic shaft to the platform.

    The softMC document, section 5.4, gives names and units, no equations. Here M_BC and Theta_BC
    are mass and inertia (about the centre) of both rods of an arm together, and rods are slender
    bars; with the motion of `delta_kinematics`, eps_i the i-th unit row and g z gravity::

        tau = Theta_AB thetadd - (g L_AB M_AB) cos theta + M_P J^T (xdd + g z)
            + M_BC sum_i 1/2 (J + b_i eps_i)^T [1/2 (xdd + elbow_i) + g z]
            + Theta_BC / L_BC^2 sum_i (J - b_i eps_i)^T (xdd - elbow_i)

    The shaft is in `delta_shaft`; its drive adds J4 thetadd4. The torque is linear in the
    regressor's columns: M_T L_TO, M_T L_TP and the shaft's inertia about its ends instead of L_TO,
    L_TP and Theta_T, which `named_values` recovers. J4 is not among the document's names.
    Of 5 columns (three axes) 4 combinations are identifiable, of 11 (four axes) 9: M_T adds to
    M_P, and mass and inertia of the rods are spread over the others. Combinations that the
    torque does not determine are nearest to the `prior`; L_TO, L_TP and Theta_T hold for that M_T.

    With `platform_force` there are columns D and C_r of a force on the platform
    F = -D xd - min(C_r max(r - R_ext, 0), Fr_max) e_r, r the distance from the vertical axis.
    R_ext and Fr_max are given. The regressor is that of forces below Fr_max, where the torque is
    linear in C_r; `torque` saturates the force at Fr_max.
    """

    kind = 'delta'
    unnamed = ('J4',)

    def __init__(
        self,
        *,
        joints: Sequence[str],
        geometry: Mapping[str, float],
        dynamic_model: int = 1,
        gravity: float = GRAVITY,
        platform_force: Mapping[str, float] | None = None,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        """Build the model.

        :param gravity: g [m/s^2]
        :param platform_force: see `PlatformForce`; default: no such force
        :raises ModelError: wrong joints, geometry or dynamic model
        """
        self.dynamic_model = check_choice('delta', dynamic_model, (1,))
        axes = build_joints('delta', joints, ['revolute'] * (ARMS + 1), least=ARMS)
        self._shaft = len(axes) > ARMS
        self.geometry: DeltaGeometry = check_geometry(
            'delta', geometry, ShaftGeometry if self._shaft else DeltaGeometry
        )
        self._height = getattr(self.geometry, 'h_O', 0.0)
        self._range = working_range(self.geometry)
        self.gravity = float(gravity)
        self._force: PlatformForce | None = None
        if platform_force is not None:
            self._force = check_geometry(
                'delta', platform_force, PlatformForce, what='platform_force'
            )
        shaft = [*_SHAFT, Parameter('J4', 'kg m^2', axes[-1].name)] if self._shaft else []
        self._set(
            joints=axes,
            parameters=[*_ROBOT, *shaft, *(_FORCE if self._force is not None else ())],
            settings={
                'geometry': asdict(self.geometry),
                'gravity': self.gravity,
                'platform_force': self._force and asdict(self._force),
            },
            prior=prior,
        )
        self.named_parameters = NAMED
        self.body = (8, 6, 7, 5) if self._shaft else ()

    def position_limits(self) -> Array:
        """Return arm angles where every combination is reachable; the fourth axis is free."""
        limits = super().position_limits()
        limits[:ARMS] = self._range
        return limits

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressor, shape (N, n, p)."""
        q, qd, qdd = self._check_motion(q, qd, qdd)
        result = np.zeros((len(q), len(self.joints), len(self.parameters)))
        for block in sample_blocks(len(q)):
            state = components(q[block]), components(qd[block]), components(qdd[block])
            try:
                self._fill(result[block], *state)
            except ZeroDivisionError as error:
                raise ModelError(
                    f'a delta has no torque at joint positions {state[0]} rad, '
                    f'where it is singular'
                ) from error
        return result

    def _fill(self, result: Array, q: list[Number], qd: list[Number], qdd: list[Number]) -> None:
        """Compute the regressor from the components of the joints' motion."""
        moving = delta_motion(self.geometry, q[:ARMS], qd[:ARMS], qdd[:ARMS])
        platform, elbows = _rod_forces(moving, self.gravity, 1.0 / self.geometry.L_BC**2)
        forces = platform
        if self._shaft:
            turn = (q[ARMS], qd[ARMS], qdd[ARMS])
            shaft, motor = shaft_forces(self._height, self.gravity, moving, turn)
            forces = [*platform, platform[2], *shaft, (0.0, 0.0, 0.0)]
            result[:, ARMS, 9], result[:, ARMS, 10] = motor, turn[2]
        if self._force is not None:
            forces = [*forces, moving.xd, _stretch(moving.x, self._force.R_ext)]
        for arm, slope in enumerate(moving.slopes):
            row = [dot(slope, force) for force in forces]
            row[0] += elbows[arm][0]
            row[1] += elbows[arm][1]
            cosine = functions(q[arm]).cos(q[arm])
            result[:, arm] = np.array([qdd[arm], -cosine, *row]).T

    def torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Compute joint torques, (N, n), in [Nm], with the platform force limited to Fr_max."""
        result = super().torque(q, qd, qdd, values)
        if self._force is None or not values[-1]:
            return result
        at_rest = (0.0, 0.0, 0.0)
        for block in sample_blocks(len(q)):
            theta = components(np.asarray(q)[block, :ARMS])
            moving = delta_motion(self.geometry, theta, at_rest, at_rest)
            pull = times(values[-1], _stretch(moving.x, self._force.R_ext))
            size = np.maximum(np.sqrt(dot(pull, pull)), 1e-12)
            over = np.maximum(1.0 - self._force.Fr_max / size, 0.0)
            for arm, slope in enumerate(moving.slopes):
                result[block, arm] -= over * dot(slope, pull)
        return result

    def compute_named(self, values: Array) -> Array:
        """Return the fourteen named values, shape (14,); 0 for parameters the robot does not have.

        L_TO, L_TP and Theta_T are NaN if M_T is 0.
        """
        self._check_values(values)
        result = np.zeros(len(NAMED))
        result[:5] = values[:5]
        if self._shaft:
            mass = values[5]
            with np.errstate(divide='ignore', invalid='ignore'):
                lengths = np.where(mass == 0.0, np.nan, values[6:8] / mass)
            transverse = 0.5 * (values[8] - mass * (lengths @ lengths))
            result[5:10] = mass, transverse, values[9], *lengths
        if self._force is not None:
            result[10:] = *values[-2:], self._force.Fr_max, self._force.R_ext
        return result

    def values_of(self, named: Array) -> Array:
        """Return parameter values, shape (p,), of the fourteen named ones; J4 is 0.

        :raises ModelError: not fourteen values
        """
        if np.shape(named) != (len(NAMED),):
            raise ModelError(f'a delta has 14 named parameters, got {np.shape(named)} values')
        mass, transverse, spin, upper, lower = named[5:10]
        inertia = mass * (upper**2 + lower**2) + 2.0 * transverse
        shaft = [mass, mass * upper, mass * lower, inertia, spin, 0.0] if self._shaft else []
        force: Sequence[float] = () if self._force is None else named[10:12].tolist()
        return np.array([*named[:5], *shaft, *force])

    def payload_matrix(self, values: Array) -> Array:
        """Return how a payload changes parameter values, shape (p, 2); see `ClosedFormModel`.

        The mass adds to M_P, the inertia about the vertical to J4.
        """
        self._check_values(values)
        result = np.zeros((len(values), 2))
        result[4, 0] = 1.0
        if self._shaft:
            result[10, 1] = 1.0
        return result


def _rod_forces(
    moving: DeltaMotion, gravity: float, share: float
) -> tuple[list[Vector], list[tuple[Number, Number]]]:
    """Compute forces on the platform per unit of M_BC, Theta_BC, M_P, and at the elbows."""
    centres, swings, elbows = [], [], []
    for elbow, b in zip(moving.elbow, moving.b, strict=True):
        x, y, z = combine(0.25, moving.xdd, 0.25, elbow)
        centres.append((x, y, z + 0.5 * gravity))
        swings.append(combine(share, moving.xdd, -share, elbow))
        elbows.append((dot(b, centres[-1]), -dot(b, swings[-1])))
    x, y, z = moving.xdd
    return [total(centres), total(swings), (x, y, z + gravity)], elbows


def _stretch(x: Vector, radius: float) -> Vector:
    """Return the horizontal vector [m] by which the platform is outside the radius."""
    distance = np.sqrt(x[0] * x[0] + x[1] * x[1])
    share = np.maximum(distance - radius, 0.0) / np.maximum(distance, 1e-12)
    return share * x[0], share * x[1], 0.0
