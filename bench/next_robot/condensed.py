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
    sign, speed = np.tanh(velocity / 0.003), np.abs(velocity)
    stribeck = sign * np.exp(-((velocity / 0.05) ** 2))
    columns = [sign, velocity, np.ones_like(velocity), stribeck]
    return np.stack([*columns, sign * np.cbrt(speed), speed, sign * np.abs(load)], axis=1)


def condensed(
    body: DynamicModel,
    signals: Arrays,
    cutoff: float,
    *,
    share: float = 0.0,
    parallel: bool = True,
) -> Array | None:
    """Return `products` of a recording below a frequency in [Hz]; None: it is too short.

    :param share: of a joint's largest velocity, below which its samples are left out
    :param parallel: friction goes through the same low pass as torque
    """
    rate = 1.0 / float(np.median(np.diff(signals['time'])))
    time = np.arange(signals['time'][0], signals['time'][-1], 1.0 / rate)
    margin = round(2.0 * rate / cutoff)  # two periods, where the filter has one side only
    if cutoff > 0.4 * rate or len(time) < 2 * margin + 40:
        return None
    sections = signal.butter(4, cutoff, fs=rate, output='sos')

    def smooth(values: Array) -> Array:
        return np.asarray(signal.sosfiltfilt(sections, values, axis=0, padlen=margin))

    def uniform(values: Array) -> Array:
        return np.stack([np.interp(time, signals['time'], each) for each in values.T], axis=1)

    position, torque = smooth(uniform(signals['position'])), smooth(uniform(signals['torque']))
    velocity = np.gradient(position, 1.0 / rate, axis=0)
    motion = position, velocity, np.gradient(velocity, 1.0 / rate, axis=0)
    rows = np.arange(len(time))[margin : -margin : max(1, round(rate / (8.0 * cutoff)))]
    kept = tuple(values[rows] for values in motion)
    regressor = body.regressor(*kept)
    load = regressor @ np.nan_to_num(body.prior())
    friction = []
    for joint in range(len(body.joints)):
        if parallel:
            whole = np.interp(np.arange(len(time)), rows, load[:, joint])
            friction.append(smooth(friction_columns(velocity[:, joint], whole))[rows])
        else:
            friction.append(friction_columns(kept[1][:, joint], load[:, joint]))
    speed = np.abs(kept[1])
    return products(regressor, friction, torque[rows], speed >= share * speed.max(axis=0))


def products(regressor: Array, friction: list[Array], torque: Array, used: Array) -> Array:
    """Return [Y | F | tau]^T [Y | F | tau] / N of each joint, shape (n, p + 8, p + 8)."""
    found = []
    for joint, own in enumerate(friction):
        rows = np.hstack([regressor[:, joint], own, torque[:, joint, None]])[used[:, joint]]
        found.append(rows.T @ rows / len(rows))
    return np.array(found)


def exact(body: DynamicModel, motion: tuple[Array, Array, Array], torque: Array) -> Array:
    """Return `products` of a motion and torque without noise, as they are."""
    regressor = body.regressor(*motion)
    load = regressor @ np.nan_to_num(body.prior())
    friction = [friction_columns(motion[1][:, j], load[:, j]) for j in range(torque.shape[1])]
    return products(regressor, friction, torque, np.ones(torque.shape, dtype=bool))


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
