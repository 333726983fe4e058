# SPDX-License-Identifier: Apache-2.0
"""Drives of the cell: cyclic synchronous position with torque offset (CiA 402, mode 8).

Each servo cycle brings a position command and a torque offset (additive torque).

- Set-point: the drive interpolates the position commands by a uniform quadratic B-spline, whose
  velocity is continuous. Command c[k] of cycle k is centred on the cycle k + `command_delay`: a
  torque offset given that many cycles later acts during exactly this cycle. The delay is due to
  the interpolation, which needs one command ahead.
- Torque offset: held over its cycle, added to the torque command immediately.
- Loops, once per substep: velocity set-point = Kp * position error + fed forward share of the
  commanded velocity; torque = Kv * (velocity error + integral / Ti) + torque offset, limited to
  the drive's maximum. Velocity is the filtered difference of encoder positions, and the
  commanded velocity passes the same filter, so that feed-forward and feedback match.
- Jitter: a cycle that the master makes longer or shorter stretches the interpolation. The drive
  has its own clock, so that its measured velocity stays right.
- Tuning, as done without a dynamic model: Kv = J * 2 pi * velocity_bandwidth, J the inertia the
  axis moves in the middle of its range; Kp = 2 pi * position_bandwidth; Ti = integral_time.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.cell.urdf_robot import Axes

Array = NDArray[np.float64]


class SimulatedDrives:
    """All drives of a robot; one object, vectorised over the joints."""

    def __init__(
        self, *, axes: Axes, inertia: Array, period: float, substeps: int, delay: int
    ) -> None:
        """Tune the loops.

        :param inertia: inertia of each axis in the middle of its range, (n,), in [kg m^2] or [kg]
        :param period: servo period, in [s]
        :param delay: cycles from a position command to the set-point, at least 1
        """
        step = period / substeps
        self._step_rate = 1.0 / step
        self._resolution = axes['encoder_resolution']
        self._per_resolution = 1.0 / self._resolution
        self.position_gain = 2.0 * np.pi * axes['position_bandwidth']
        self.velocity_gain = inertia * 2.0 * np.pi * axes['velocity_bandwidth']
        self._integral_gain = self.velocity_gain * step / axes['integral_time']
        self._feedforward = axes['velocity_feedforward']
        self._keeping = np.exp(-2.0 * np.pi * axes['velocity_filter'] * step)
        self._change_gain = (1.0 - self._keeping) * self._step_rate
        self._max = axes['max_torque']
        self._min = -self._max
        self._delay = delay
        share = np.arange(substeps)[:, None] / substeps
        self._weights = np.hstack(
            [0.5 * (1.0 - share) ** 2, 0.5 + share - share**2, 0.5 * share**2]
        )
        self._measured_gain = self._change_gain
        self.reset(np.zeros(len(axes.names)))

    def reset(self, position: Array) -> None:
        """Reset to rest at this position, without torque."""
        position = np.array(position)
        self._commands = deque([position] * (self._delay + 2), maxlen=self._delay + 2)
        self.position = self.encode(position)
        self.velocity = np.zeros_like(position)
        self._integral = np.zeros_like(position)
        self._commanded_velocity = np.zeros_like(position)
        self._offset = np.zeros_like(position)
        self.setpoints = np.tile(position, (len(self._weights), 1))
        self._feed = np.zeros_like(self.setpoints)
        self._substep = 0

    def encode(self, position: Array) -> Array:
        """Return the positions as measured by the encoders, shape (n,)."""
        counts = position * self._per_resolution
        np.rint(counts, out=counts)
        counts *= self._resolution
        return counts

    def command(self, position: Array, torque_offset: Array, duration: float = 1.0) -> None:
        """Start a servo cycle.

        :param position: position command, shape (n,), in [rad] or [m]
        :param torque_offset: additive torque, shape (n,), in [Nm] or [N]
        :param duration: of the cycle, relative to the servo period
        """
        self._measured_gain = self._change_gain / duration
        self._commands.append(position.copy())
        before, middle, after = (self._commands[i] for i in range(3))
        last = self.setpoints[-1]
        self.setpoints = self._weights @ np.array((before, middle, after))
        velocities = np.empty_like(self.setpoints)
        np.subtract(self.setpoints[1:], self.setpoints[:-1], out=velocities[1:])
        np.subtract(self.setpoints[0], last, out=velocities[0])
        velocities *= self._feedforward * self._change_gain
        self._feed = self._feed_forward(velocities)
        self._offset = torque_offset
        self._substep = 0
        # Limiting the integral to the maximum torque of the motor prevents windup.
        np.minimum(self._integral, self._max, out=self._integral)
        np.maximum(self._integral, self._min, out=self._integral)

    def _feed_forward(self, changes: Array) -> Array:
        """Return the velocity set-point of each substep without the measured position."""
        feed = self.setpoints * self.position_gain
        for row, change in zip(feed, changes, strict=True):
            self._commanded_velocity *= self._keeping
            self._commanded_velocity += change
            row += self._commanded_velocity
        return feed

    def measure(self, position: Array) -> None:
        """Read the encoders: update `position` and the velocity estimate `velocity`."""
        measured = self.encode(position)
        change = measured - self.position
        change *= self._measured_gain
        self.velocity *= self._keeping
        self.velocity += change
        self.position = measured

    def torque(self) -> Array:
        """Compute the torque of the next substep, shape (n,), in [Nm] or [N]."""
        index = self._substep
        self._substep = index + 1
        error: Array = self.position * self.position_gain
        error += self.velocity
        np.subtract(self._feed[index], error, out=error)
        self._integral += self._integral_gain * error
        error *= self.velocity_gain
        error += self._integral
        error += self._offset
        np.minimum(error, self._max, out=error)
        np.maximum(error, self._min, out=error)
        return error
