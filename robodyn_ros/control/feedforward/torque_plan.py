# SPDX-License-Identifier: Apache-2.0
"""Samples of a trajectory with the additive torque of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.long_work import Steps
from robodyn_ros.models.interface import Array, sample_blocks

TRANSPORT = (0.02, 30e-6)
"""Time from sending a trajectory until it acts, in [s]: in all, and per point. A busy scheduler
delays a process by up to 20 ms; an rclpy subscriber reads a point in about 30 us."""
MOTION = ('velocity', 'acceleration')
ARRAYS = ('position', *MOTION, 'requested', 'effort')


@dataclass(frozen=True)
class TorquePlan:
    """A trajectory at the servo-period samples, with the torque of each.

    :param joints: names of the n joints
    :param time: from the start of the trajectory, shape (N,), in [s]
    :param position: shape (N, n), in [rad] or [m]; velocity and acceleration likewise
    :param requested: model torque of the sample, before delay, limit, rate and ramp, (N, n)
    :param effort: effort to send, shape (N, n), in [Nm] or [N]
    :param period: of the samples, in [s]
    """

    joints: tuple[str, ...]
    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    requested: Array
    effort: Array
    period: float

    def row(self, time: float) -> int:
        """Return the index of the sample at or before a time, within the plan."""
        row = int((time - self.time[0]) / self.period + 1e-6)
        return min(max(row, 0), len(self.time) - 1)

    def effort_at(self, time: float) -> Array:
        """Return the effort at a time, interpolated as in the controller, shape (n,)."""
        return self._at(self.effort, time)

    def model_torque_at(self, time: float) -> Array:
        """Return the model torque at a time, interpolated like the effort, shape (n,)."""
        return self._at(self.requested, time)

    def _at(self, values: Array, time: float) -> Array:
        row = self.row(time)
        if time <= self.time[0] or row == len(self.time) - 1:
            return np.array(values[row])
        share = (time - self.time[row]) / self.period
        result: Array = values[row] + share * (values[row + 1] - values[row])
        return result

    @cached_property
    def end_of_effort(self) -> float:
        """Return the time after which the effort is zero, in [s]; inf: never, -inf: always."""
        rows = np.flatnonzero(self.effort.any(axis=1))
        if not len(rows):
            return -np.inf
        return np.inf if rows[-1] + 1 == len(self.time) else float(self.time[rows[-1] + 1])

    @property
    def largest_effort(self) -> Array:
        """Return the effort of largest absolute value of each joint, shape (n,)."""
        rows = np.abs(self.effort).argmax(axis=0)
        return np.asarray(self.effort[rows, np.arange(len(rows))])

    def distance(self, position: Array, time: float, lag: float) -> Array:
        """Return the distance of a position from the motion, shape (n,), in [rad] or [m].

        :param position: measured, shape (n,)
        :param time: of the measurement, in [s]
        :param lag: largest delay of the robot, in [s]
        """
        near = self.position[self.row(time - lag) : self.row(time) + 2]
        below, above = near.min(axis=0) - position, position - near.max(axis=0)
        outside: Array = np.maximum(np.maximum(below, above), 0.0)
        return outside

    def every(self, stride: int) -> TorquePlan:
        """Return every `stride`-th sample of the plan, extended at its end to a multiple."""
        if stride == 1:
            return self
        rows: dict[str, Any] = {name: getattr(self, name)[::stride] for name in ('time', *ARRAYS)}
        if count := -(len(self.time) - 1) % stride:
            end = self.from_row(-1).hold(count)
            for name, few in rows.items():
                rows[name] = np.concatenate([few, getattr(end, name)[-1:]])
        return replace(self, period=stride * self.period, **rows)

    def distance_to(self, few: TorquePlan) -> Steps[float]:
        """Compute the largest deviation of a plan with fewer samples, in [rad] or [m].

        Its samples are joined by quintic polynomials, as in the controller.
        """
        points = TrajectoryPoints(
            few.joints, few.time - few.time[0], few.position, few.velocity, few.acceleration
        )
        spline, distance = SplineTrajectory(points=points), 0.0
        for block in sample_blocks(len(self.time)):
            motion = spline.sample(self.time[block] - self.time[0])
            distance = max(distance, float(np.abs(motion.position - self.position[block]).max()))
            yield
        return distance

    def hold(self, count: int) -> TorquePlan:
        """Return the plan with its last position and torque held for `count` more samples."""
        time = self.time[-1] + self.period * np.arange(1, count + 1)
        still = np.zeros((count, len(self.joints)))
        rows: dict[str, Any] = {
            name: np.vstack([array, still if name in MOTION else still + array[-1]])
            for name, array in ((name, getattr(self, name)) for name in ARRAYS)
        }
        return replace(self, time=np.append(self.time, time), **rows)

    def from_row(self, row: int) -> TorquePlan:
        """Return the plan from a sample on, with unchanged times."""
        rows: dict[str, Any] = {name: getattr(self, name)[row:] for name in ('time', *ARRAYS)}
        return replace(self, **rows)

    def arrival(self, sent: float) -> float:
        """Return the time at which a remainder takes effect that is sent at a time, in [s]."""
        time = sent + TRANSPORT[0]
        time += TRANSPORT[1] * (len(self.time) - self.row(time))
        return max(time, float(self.time[0]))

    def join(self, effort: Array, time: float, settings: FeedforwardSettings) -> TorquePlan:
        """Return the plan for a controller that has another effort than the plan at a time.

        The difference fades out during ramp_up_time, and the effort keeps limit and rate. Nothing
        changes if the difference is within the rate.

        :param effort: of the controller at present, shape (n,), in [Nm] or [N]
        :param time: at which the plan takes effect, in [s]
        """
        row, step = self.row(time), settings.rate * self.period
        present = np.clip(effort, -settings.limit, settings.limit)
        difference = present - self.effort[row]
        if (np.abs(difference) <= step).all():
            return self
        # Fade and ramps of the plan together may take longer than the plan, but the effort stays
        # between the plan and the plan with the difference: these cycles bring it to its end.
        cycles = int(np.ceil((np.abs(difference) / step).max())) + 1
        plan = self.hold(cycles)
        ramp = max(cycles, int(settings.ramp_up_time / self.period))
        count = min(ramp, len(plan.time) - 1 - row)
        changed = plan.effort.copy()
        changed[:row] = present
        fade = np.linspace(1.0, 0.0, count, endpoint=False)[:, None]
        changed[row : row + count] += difference * fade
        np.clip(changed, -settings.limit, settings.limit, out=changed)
        limit_rate(changed[row:], present, step)
        return replace(plan, effort=changed)

    def fade(self, time: float, settings: FeedforwardSettings, *, sent: float) -> TorquePlan:
        """Return the motion from `sent` on, with its effort ramped to zero from a time on.

        It replaces the plan in the controller if the torque must be removed while the motion
        continues. Until that time it has the samples and efforts of the plan. Without them, the
        controller would interpolate from the measured position to a later first point, and the
        drives would answer with a jump of torque. The ramp takes complete samples: if these are
        longer than the servo period, it may last up to one sample longer than ramp_down_time.

        :param sent: time of its first sample, in [s], not after `time`: that of sending it, if the
            controller started the plan exactly at its stamp
        """
        torque = self.effort_at(time)
        slowest = float((np.abs(torque) / settings.rate).max())
        cycles = max(
            cycles_of(settings.ramp_down_time, self.period),
            cycles_of(slowest, self.period, complete=False),
        )
        plan = self.from_row(self.row(sent))
        if sent > self.time[-1]:
            plan = replace(plan, time=np.array([sent]))
        kept = int((time - plan.time[0]) / self.period + 1e-6) + 1
        plan = plan.hold(max(0, kept + cycles + 1 - len(plan.time)))
        ramp = np.clip(1.0 - np.arange(len(plan.time) - kept) / cycles, 0.0, 1.0)
        effort = np.vstack([plan.effort[:kept], ramp[:, None] * torque])
        return replace(plan, effort=effort)


def cycles_of(time: float, period: float, *, complete: bool = True) -> int:
    """Return the cycles within a time (`complete`), or those that cover it; at least one."""
    cycles = time / period
    return max(1, int(np.floor(cycles + 1e-9) if complete else np.ceil(cycles - 1e-9)))


def limit_rate(effort: Array, previous: Array, step: Array) -> None:
    """Follow samples, shape (N, n), from a previous one, by at most `step` each, in place."""
    change = np.abs(np.diff(effort, axis=0, prepend=previous[None]))
    if (change <= step).all():
        return
    for row in effort:
        np.minimum(row, previous + step, out=row)
        np.maximum(row, previous - step, out=row)
        previous = row
