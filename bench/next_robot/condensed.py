"""Recordings condensed to one matrix of products per joint, and least squares on these.

Works with numpy and the model's regressor only, apart from the package's `factors`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import signal

from next_robot.flaws import Arrays
from robodyn_ros.models.interface import Array, DynamicModel


def friction_columns(velocity: Array, load: Array) -> Array:
    """Return sign, velocity, 1, Stribeck, root, |velocity| and load of one joint, (N, 7)."""
    sign, speed = np.tanh(velocity / 0.005), np.abs(velocity)
    stribeck = sign * np.exp(-((velocity / 0.05) ** 2))
    columns = [sign, velocity, np.ones_like(velocity), stribeck]
    return np.stack([*columns, sign * np.cbrt(speed), speed, sign * np.abs(load)], axis=1)


def filtered(signals: Arrays, cutoff: float) -> tuple[tuple[Array, Array, Array], Array] | None:
    """Return motion and torque below a frequency, 8 samples per its period; None: too short."""
    rate = 1.0 / float(np.median(np.diff(signals['time'])))
    time = np.arange(signals['time'][0], signals['time'][-1], 1.0 / rate)
    margin = round(rate / cutoff)
    if cutoff > 0.4 * rate or len(time) < 4 * margin + 40:
        return None
    b, a = signal.butter(4, cutoff, fs=rate)
    smooth = []
    for name in ('position', 'torque'):
        columns = [np.interp(time, signals['time'], each) for each in signals[name].T]
        smooth.append(signal.filtfilt(b, a, np.stack(columns, axis=1), axis=0))
    velocity = np.gradient(smooth[0], 1.0 / rate, axis=0)
    acceleration = np.gradient(velocity, 1.0 / rate, axis=0)
    rows = slice(margin, -margin, max(1, int(rate / (8.0 * cutoff))))
    return (smooth[0][rows], velocity[rows], acceleration[rows]), smooth[1][rows]


def products(
    body: DynamicModel, motion: tuple[Array, Array, Array], torque: Array, share: float
) -> Array:
    """Return [Y | F | tau]^T [Y | F | tau] / N of each joint, shape (n, p + 8, p + 8).

    :param share: of a joint's largest velocity, below which its samples are left out
    """
    regressor = body.regressor(*motion)
    load = regressor @ np.nan_to_num(body.prior())
    found = []
    for joint in range(torque.shape[1]):
        velocity = motion[1][:, joint]
        used = np.abs(velocity) >= share * np.abs(velocity).max()
        friction = friction_columns(velocity[used], load[used, joint])
        rows = np.hstack([regressor[used, joint], friction, torque[used, joint, None]])
        found.append(rows.T @ rows / len(rows))
    return np.array(found)


@dataclass(frozen=True)
class Columns:
    """Columns of the parameters of a body and of a friction law per joint."""

    inertial: int
    joints: int
    law: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of parameters."""
        return self.inertial + self.joints * len(self.law)

    def blocks(self, fit: Array, joint: int) -> tuple[Array, Array, float, Array]:
        """Return Y^T Y, Y^T tau, tau^T tau of a joint, and which parameters these are of."""
        rows = np.array([*range(self.inertial), *(self.inertial + k for k in self.law)])
        first = self.inertial + joint * len(self.law)
        own = np.array([*range(self.inertial), *range(first, first + len(self.law))])
        block = fit[joint]
        return block[np.ix_(rows, rows)], block[rows, -1], float(block[-1, -1]), own

    def normal(self, fit: Array, sigma: Array) -> tuple[Array, Array]:
        """Return matrix and right side of the normal equations, joints weighted by 1 / sigma^2."""
        matrix, target = np.zeros((self.count, self.count)), np.zeros(self.count)
        for joint in range(self.joints):
            square, side, _, own = self.blocks(fit, joint)
            matrix[np.ix_(own, own)] += square / sigma[joint] ** 2
            target[own] += side / sigma[joint] ** 2
        return matrix, target

    def rms(self, fit: Array, values: Array) -> Array:
        """Return the RMS torque error of each joint, shape (n,)."""
        errors = np.zeros(self.joints)
        for joint in range(self.joints):
            square, side, total, own = self.blocks(fit, joint)
            mine = values[own]
            errors[joint] = np.sqrt(max(mine @ square @ mine - 2.0 * mine @ side + total, 0.0))
        return errors
