# SPDX-License-Identifier: Apache-2.0
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
    low_pass = LowPass.of(signals['time'], cutoff)
    if low_pass is None:
        return None
    position, torque = (low_pass.of_signal(signals[name]) for name in ('position', 'torque'))
    velocity = np.gradient(position, low_pass.period, axis=0)
    acceleration = np.gradient(velocity, low_pass.period, axis=0)
    rows = low_pass.rows
    kept = velocity[rows]
    regressor = body.regressor(position[rows], kept, acceleration[rows])
    load = regressor @ np.nan_to_num(body.prior())
    friction = [friction_columns(kept[:, j], load[:, j]) for j in range(load.shape[1])]
    for joint in range(load.shape[1] if parallel else 0):
        every = np.interp(np.arange(len(velocity)), rows, load[:, joint])
        friction[joint] = low_pass(friction_columns(velocity[:, joint], every))[rows]
    speed = np.abs(kept)
    used = speed >= share * speed.max(axis=0)
    return products(regressor, friction, torque[rows], used)


@dataclass(frozen=True)
class LowPass:
    """Zero-phase Butterworth low pass of order 4, on an even grid of time.

    :param stamps: of the signals, shape (M,), in [s]
    :param time: grid, shape (N,), in [s]
    :param margin: samples at both ends where the filter has one side only: two periods
    """

    stamps: Array
    time: Array
    period: float
    cutoff: float
    margin: int

    @classmethod
    def of(cls, stamps: Array, cutoff: float) -> LowPass | None:
        """Return the filter; None: the recording is too short or too slow for it."""
        period = float(np.median(np.diff(stamps)))
        margin = round(2.0 / (period * cutoff))
        time = np.arange(stamps[0], stamps[-1], period)
        if cutoff * period > 0.4 or len(time) < 2 * margin + 40:
            return None
        return cls(stamps, time, period, cutoff, margin)

    @property
    def rows(self) -> Array:
        """Samples that are used: 8 per period of the cut-off frequency."""
        step = max(1, round(1.0 / (8.0 * self.cutoff * self.period)))
        return np.arange(self.margin, len(self.time) - self.margin, step)

    def __call__(self, values: Array) -> Array:
        """Filter values (N, k) on the grid."""
        sections = signal.butter(4, self.cutoff, fs=1.0 / self.period, output='sos')
        return np.asarray(signal.sosfiltfilt(sections, values, axis=0, padlen=self.margin))

    def of_signal(self, values: Array) -> Array:
        """Interpolate values (M, k) to the grid and filter them."""
        columns = [np.interp(self.time, self.stamps, each) for each in values.T]
        return self(np.stack(columns, axis=1))


def products(regressor: Array, friction: list[Array], torque: Array, used: Array) -> Array:
    """Return [Y | F | tau]^T [Y | F | tau] / N of each joint, shape (n, p + 8, p + 8)."""
    found = []
    for joint, own in enumerate(friction):
        rows = np.hstack([regressor[:, joint], own, torque[:, joint, None]])[used[:, joint]]
        found.append(rows.T @ rows / max(len(rows), 1))
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
