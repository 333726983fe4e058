"""Telescopic shaft of a four-axis DELTA: from the motor through a Cardan joint to the platform.

Two halves, each with mass M_T and transverse inertia Theta_T, their centres of mass L_TO from the
motor's Cardan joint O = (0, 0, h_O) and L_TP from the platform P. u is the unit vector from O to
P.
"""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.delta_kinematics import DeltaMotion, cross, dot
from robodyn_ros.models.interface import Array

Turn = tuple[Array, Array, Array]
"""Position [rad], velocity and acceleration of the fourth axis, each (N,)."""


def shaft_forces(
    height: float, gravity: float, motion: DeltaMotion, turn: Turn
) -> tuple[Array, Array]:
    """Generalised forces of the shaft per unit of its parameters.

    :param height: h_O [m]
    :param gravity: g [m/s^2]
    :return: forces on the platform (N, 4, 3) per unit of M_T L_TO, M_T L_TP,
        M_T (L_TO^2 + L_TP^2) + 2 Theta_T and Theta_Tphi, which J^T turns into torques of the
        arms; and the torque (N,) of the fourth axis per unit of Theta_Tphi
    """
    offset = motion.x - np.array([0.0, 0.0, height])
    shorter = 1.0 / np.sqrt(dot(offset, offset))[:, None]  # 1 / rho
    u = offset * shorter
    stretching = dot(u, motion.xd)[:, None]
    ud = (motion.xd - u * stretching) * shorter
    second = (dot(ud, motion.xd) + dot(u, motion.xdd))[:, None]
    udd = (motion.xdd - u * second - (2.0 * stretching) * ud) * shorter
    forces = np.zeros((len(u), 4, 3))
    forces[:, 0, 2] = gravity
    forces[:, 1] = -motion.xdd - forces[:, 0]
    forces[:, 2] = udd
    forces[:, 3], motor = _spin(u, ud, udd, turn)
    # U^T = J^T (1 - u u^T) / rho: only what is across the shaft turns it.
    forces = (forces - (forces @ u[:, :, None]) * u[:, None]) * shorter[:, None]
    forces[:, 1] -= udd
    return forces, motor


def _spin(u: Array, ud: Array, udd: Array, turn: Turn) -> tuple[Array, Array]:
    """Force against a change of u, (N, 3), and torque of the motor, (N,), per Theta_Tphi.

    The joint's fork holds d1, which turns with the motor; the shaft holds d2, across u and d1.
    The shaft's velocity about itself is w = alpha * rate + factor * (d1 x u) . ud. Lagrange's
    equations of Theta_Tphi w^2 / 2 need dw/dt and the curl of w, which for the turning of a body
    about its own axis is that of the sphere of u: (u x ud) . du, whatever joint drives it.
    """
    angle, rate, acceleration = turn
    cos, sin = np.cos(angle), np.sin(angle)
    upright = u[:, 2]
    tilt = cos * u[:, 0] + sin * u[:, 1]  # u . d1
    aside = cos * u[:, 1] - sin * u[:, 0]  # u . d1', d1' = z x d1
    tilt_rate = cos * ud[:, 0] + sin * ud[:, 1] + aside * rate
    less = 1.0 / (1.0 - tilt * tilt)
    alpha, factor = upright * less, tilt * less
    alpha_rate = (ud[:, 2] + 2.0 * alpha * tilt * tilt_rate) * less
    factor_rate = tilt_rate * (1.0 + tilt * tilt) * less * less
    side = np.empty(u.shape)  # d1 x u
    side[:, 0], side[:, 1], side[:, 2] = sin * upright, -cos * upright, aside
    leaning = dot(side, ud)
    # d1' x u = (cos u_z, sin u_z, -tilt); d1 x u changes by this times the rate, and by d1 x ud,
    # which ud does not feel.
    turning = upright * (cos * ud[:, 0] + sin * ud[:, 1]) - tilt * ud[:, 2]
    speed = alpha * rate + factor * leaning
    change = (
        alpha * acceleration
        + alpha_rate * rate
        + factor * (dot(side, udd) + rate * turning)
        + factor_rate * leaning
    )
    return (change * factor)[:, None] * side + speed[:, None] * cross(ud, u), change * alpha
