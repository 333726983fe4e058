# SPDX-License-Identifier: Apache-2.0
"""Simulated example of "quaternion_identification_2022", section 4, by Pinocchio.

Six homogeneous cylinders in a row (Table 1), hinges 1 and 2 accelerate by 30 deg/s^2 from rest,
the others are locked. The posture is only in a figure of the document, so it is one of our own.
Pinocchio computes in joint frames and spatial vectors; it knows nothing of quaternion rates or of
principal axes. Its numbers are rounded to 7 digits, as ADAMS gives them.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

GRAVITY = 9.80665
ACCELERATION = np.radians(30.0)
TIMES = (0.3, 0.6, 0.9, 1.2, 1.5)

# Table 1, its length l [m], mass [kg], J11 and J22 = J33 [kg m^2].
LENGTH = np.array([1.045, 1.245, 1.21, 0.315, 0.29, 0.3])
MASS = np.array([6402.6012, 2746.0726, 1186.1661, 308.7953, 284.2877, 661.7042])
J11 = np.array([800.3251, 123.5734, 23.7233, 6.1759, 5.6858, 29.7767])
J22 = np.array([982.8126, 416.4934, 156.5838, 5.6413, 4.8353, 19.8511])

# Turn of each body's axis 1 against the one before, at rest, about y [rad]; the first is upright.
POSTURE = (-np.pi / 2, 0.5, 1.2, -0.4, 0.7, 0.3)


def robot() -> pin.Model:
    """Chain of the six cylinders: axis 1 of each is its own, hinge i at its inner end."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    for k in range(6):
        origin = np.array([LENGTH[k - 1] if k else 0.0, 0.0, 0.0])
        turn = pin.utils.rotate('y', POSTURE[k])
        # Hinge 1 turns about the upright axis, all others across the arm.
        joint = pin.JointModelRX() if k == 0 else pin.JointModelRY()
        index = model.addJoint(k, joint, pin.SE3(turn, origin), f'hinge{k + 1}')
        centre = np.array([LENGTH[k] / 2, 0.0, 0.0])
        body = pin.Inertia(MASS[k], centre, np.diag([J11[k], J22[k], J22[k]]))
        model.appendBodyToJoint(index, body, pin.SE3.Identity())
    return model


def rows(times=TIMES, digits=7) -> tuple[list[str], np.ndarray]:
    """Column names and rows of the CSV file of `robodyn bodywise`, world axes."""
    names = ['body', 't', 'qw', 'qx', 'qy', 'qz', 'wx', 'wy', 'wz', 'dwx', 'dwy', 'dwz']
    names += ['ax', 'ay', 'az']
    for hinge in ('inner', 'outer'):
        names += [f'{hinge}_{name}' for name in ('x', 'y', 'z', *_SIX)]
    model = robot()
    return names, rounded(np.array([row for t in times for row in _at(model, t)]), digits)


_SIX = ('fx', 'fy', 'fz', 'mx', 'my', 'mz')


def _at(model: pin.Model, t: float) -> list[list[float]]:
    data = model.createData()
    moving = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    q, qd, qdd = (moving * ACCELERATION * x for x in (t**2 / 2, t, 1.0))
    pin.rnea(model, data, q, qd, qdd)
    pin.forwardKinematics(model, data, q, qd, qdd)
    # Spatial forces through the hinges, at the world's origin; below moved back to the hinge.
    wrench = [data.oMi[k].act(data.f[k]) for k in range(1, 7)] + [pin.Force.Zero()]
    result = []
    for k in range(1, 7):
        place, speed, change = data.oMi[k], data.v[k], data.a[k]
        turn, arm = place.rotation, np.array([LENGTH[k - 1] / 2, 0.0, 0.0])
        spin = speed.angular
        # Spatial acceleration of the hinge to that of the centre of mass (classical).
        linear = change.linear + np.cross(spin, speed.linear) + np.cross(change.angular, arm)
        linear = turn @ (linear + np.cross(spin, np.cross(spin, arm)))
        x, y, z, w = pin.Quaternion(turn).coeffs()
        row = [k, t, w, x, y, z, *spin, *change.angular, *linear]
        for sign, lever, at in ((1.0, -arm, k), (-1.0, arm, k + 1)):
            push = sign * wrench[at - 1].linear
            hinge = place.translation + turn @ (arm + lever)
            twist = sign * wrench[at - 1].angular - np.cross(hinge, push)
            row += [*lever, *push, *twist]
        result.append(row)
    return result


def rounded(values: np.ndarray, digits: int | None) -> np.ndarray:
    """Numbers with so many significant digits, by way of text."""
    if digits is None:
        return values
    return np.vectorize(lambda x: float(f'{x:.{digits - 1}e}'))(values)


def write(path, times=TIMES, digits=7) -> None:
    """Write the example as CSV."""
    names, values = rows(times, digits)
    lines = [','.join(names), *(','.join(map(repr, row)) for row in values.tolist())]
    path.write_text('\n'.join(lines) + '\n')
