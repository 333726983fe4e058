# SPDX-License-Identifier: Apache-2.0
"""Telescopic shaft of a four-axis DELTA: from the motor through a Cardan joint to the platform.

Two halves, each with mass M_T and transverse inertia Theta_T, their centres of mass L_TO from the
motor's Cardan joint O = (0, 0, h_O) and L_TP from the platform P. u is the unit vector from O to
P. Numbers are floats or arrays, see `closed_form.components`.
"""

from __future__ import annotations

from robodyn_ros.models.closed_forms.closed_form import Number, functions
from robodyn_ros.models.closed_forms.delta_kinematics import (
    DeltaMotion,
    Vector,
    combine,
    cross,
    dot,
    times,
)

Turn = tuple[Number, Number, Number]
"""Position [rad], velocity and acceleration of the fourth axis."""


def shaft_forces(
    height: float, gravity: float, motion: DeltaMotion, turn: Turn
) -> tuple[list[Vector], Number]:
    """Compute the generalised forces of the shaft per unit of its parameters.

    :param height: h_O [m]
    :param gravity: g [m/s^2]
    :return: forces on the platform per unit of M_T L_TO, M_T L_TP,
        M_T (L_TO^2 + L_TP^2) + 2 Theta_T and Theta_Tphi, which J^T turns into torques of the
        arms; and the torque of the fourth axis per unit of Theta_Tphi
    """
    x, xd, xdd = motion.x, motion.xd, motion.xdd
    offset = (x[0], x[1], x[2] - height)
    square = dot(offset, offset)
    shorter = 1.0 / functions(square).sqrt(square)  # 1 / rho
    u = times(shorter, offset)
    stretching = dot(u, xd)
    ud = combine(shorter, xd, -shorter * stretching, u)
    second = dot(ud, xd) + dot(u, xdd)
    udd = combine(
        1.0, combine(shorter, xdd, -shorter * second, u), -2.0 * shorter * stretching, ud
    )
    spin, motor = _spin(u, ud, udd, turn)

    # U^T = J^T (1 - u u^T) / rho: only forces across the shaft turn it.
    def across(force: Vector) -> Vector:
        return combine(shorter, force, -shorter * dot(u, force), u)

    weight = across((0.0, 0.0, gravity))
    lower = across((-xdd[0], -xdd[1], -xdd[2] - gravity))
    forces = [weight, combine(1.0, lower, -1.0, udd), across(udd), across(spin)]
    return forces, motor


def _spin(u: Vector, ud: Vector, udd: Vector, turn: Turn) -> tuple[Vector, Number]:
    """Compute the force against a change of u, and the torque of the motor, per Theta_Tphi.

    The joint's fork holds d1, which turns with the motor; the shaft holds d2, across u and d1.
    The shaft's velocity about itself is w = alpha * rate + factor * (d1 x u) . ud. Lagrange's
    equations of Theta_Tphi w^2 / 2 need dw/dt and the curl of w, which for the turning of a body
    about its own axis is that of the sphere of u: (u x ud) . du, whatever joint drives it.
    """
    angle, rate, acceleration = turn
    cos, sin = functions(angle).cos(angle), functions(angle).sin(angle)
    tilt = cos * u[0] + sin * u[1]  # u . d1
    aside = cos * u[1] - sin * u[0]  # u . d1', d1' = z x d1
    swing = cos * ud[0] + sin * ud[1]
    tilt_rate = swing + aside * rate
    less = 1.0 / (1.0 - tilt * tilt)
    alpha, factor = u[2] * less, tilt * less
    alpha_rate = (ud[2] + 2.0 * alpha * tilt * tilt_rate) * less
    factor_rate = tilt_rate * (1.0 + tilt * tilt) * less * less
    side = (sin * u[2], -cos * u[2], aside)  # d1 x u
    leaning = dot(side, ud)
    # d1 x u changes by d1' x u = (cos u_z, sin u_z, -tilt) times the rate, and by d1 x ud,
    # which is perpendicular to ud.
    turning = u[2] * swing - tilt * ud[2]
    speed = alpha * rate + factor * leaning
    change = (
        alpha * acceleration
        + alpha_rate * rate
        + factor * (dot(side, udd) + rate * turning)
        + factor_rate * leaning
    )
    return combine(change * factor, side, speed, cross(ud, u)), change * alpha
