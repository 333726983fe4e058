"""Additive torque of a complete trajectory, for a controller that accepts effort points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn_ros.control.feedforward.additive_torque import FeedforwardSettings
from robodyn_ros.control.torque.delay import delayed
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque.standstill import StandstillFriction
from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.trajectory import Motion
from robodyn_ros.models.interface import Array

REST_VELOCITY = 1e-6
"""Largest velocity at the end of a trajectory, in [rad/s] or [m/s], as in the JTC by default."""

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

    def requested_at(self, time: float) -> Array:
        """Return the model torque at a time, interpolated like the effort, shape (n,)."""
        return self._at(self.requested, time)

    def _at(self, values: Array, time: float) -> Array:
        row = self.row(time)
        if time <= self.time[0] or row == len(self.time) - 1:
            return np.array(values[row])
        share = (time - self.time[row]) / self.period
        result: Array = values[row] + share * (values[row + 1] - values[row])
        return result

    @property
    def end_of_effort(self) -> float:
        """Return the time after which the effort is zero, in [s]; inf: never, -inf: always."""
        rows = np.flatnonzero(self.effort.any(axis=1))
        if not len(rows):
            return -np.inf
        return np.inf if rows[-1] + 1 == len(self.time) else float(self.time[rows[-1] + 1])

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
        whole = self.held(-(len(self.time) - 1) % stride)
        rows: dict[str, Any] = {name: getattr(whole, name)[::stride] for name in ('time', *ARRAYS)}
        return replace(self, period=stride * self.period, **rows)

    def distance_to(self, few: TorquePlan) -> float:
        """Return the largest deviation of a plan with fewer samples, in [rad] or [m].

        Its samples are joined by quintic polynomials, as in the controller.
        """
        points = TrajectoryPoints(
            few.joints, few.time - few.time[0], few.position, few.velocity, few.acceleration
        )
        way = SplineTrajectory(points=points).sample(self.time - self.time[0])
        return float(np.abs(way.position - self.position).max())

    def held(self, count: int) -> TorquePlan:
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

    def faded(self, time: float, settings: FeedforwardSettings) -> TorquePlan:
        """Return the remainder of the motion from a time on, with its effort ramped to zero.

        It replaces the plan in the controller if the torque must be removed while the motion
        continues. The ramp takes complete samples: if these are longer than the servo period,
        it may last up to one sample longer than ramp_down_time.
        """
        torque = self.effort_at(time)
        slowest = float((np.abs(torque) / settings.rate).max())
        cycles = max(
            _cycles(settings.ramp_down_time, self.period),
            _cycles(slowest, self.period, whole=False),
        )
        plan = self
        if time >= self.time[-1]:
            last = self.from_row(len(self.time) - 1)
            plan = replace(last, time=np.array([time]))
        first = plan.row(time) + 1
        rest = plan.held(max(0, first + cycles + 1 - len(plan.time))).from_row(first)
        ramp = np.clip(1.0 - np.arange(len(rest.time)) / cycles, 0.0, 1.0)
        return replace(rest, effort=ramp[:, None] * torque)


def trajectory_effort(
    spline: SplineTrajectory,
    torque: ModelTorque,
    settings: FeedforwardSettings,
    *,
    scale: float | None = None,
    initial: Array | None = None,
    begin: float = 0.0,
    offset: float = 0.0,
    hold_at_end: bool = False,
) -> TorquePlan:
    """Compute the additive torque at every servo-period sample of a trajectory.

    The torque is delayed by the settings' cycles, added to the effort that the points have,
    blended in from `initial` during ramp_up_time, limited, and kept within the rate. After the
    motion the last position is held for the delay and for a ramp of the torque to zero: a
    joint_trajectory_controller holds the last effort of a trajectory and commands it again after
    later cancels. The drive's integrator then carries gravity. With `hold_at_end` the last
    position is held until friction has faded out, so that only gravity remains.

    :param scale: share of the model torque, 0..1; None: that of the settings
    :param initial: effort of the controller when the trajectory starts, (n,); None: zero
    :param begin: time up to which `initial` is kept, in [s]: the controller may miss this part
    :param offset: start time of the trajectory in the plan, in [s]
    :param hold_at_end: keep the torque that holds the robot instead of ramping to zero
    :raises ControlError: other joints than the model's, a motion that does not end at rest, or
        a model torque that is not finite
    """
    _check(spline, torque)
    cycles = _cycles(spline.duration, settings.period, whole=False)
    ramp = 0 if hold_at_end else _cycles(settings.ramp_down_time, settings.period)
    fade = _cycles(settings.friction_fade_time, settings.period, whole=False) if hold_at_end else 0
    count = cycles + 1 + settings.additive_torque_delay + fade + ramp
    time: Array = settings.period * np.arange(count, dtype=float)
    motion = spline.sample(time)
    for array in (motion.velocity, motion.acceleration):
        array[cycles + 1 :] = 0.0
    requested = _model_torque(motion, torque, settings)
    share = settings.feedforward_scale if scale is None else scale
    target = spline.points.effort_at(time)
    first = min(int(np.searchsorted(offset + time, begin)), count - 1)
    still = np.zeros((1, len(spline.joints)))
    at_rest = target[first] + share * torque.torque(motion.position[[first]], still, still)[0]
    target += share * delayed(requested, settings.additive_torque_delay)
    start = np.zeros(len(spline.joints)) if initial is None else initial
    return TorquePlan(
        joints=spline.joints,
        time=offset + time,
        position=motion.position,
        velocity=motion.velocity,
        acceleration=motion.acceleration,
        requested=requested,
        effort=_shaped(target, at_rest, offset + time - begin, start, ramp, settings),
        period=settings.period,
    )


def _model_torque(motion: Motion, torque: ModelTorque, settings: FeedforwardSettings) -> Array:
    """Return the model torque of each sample, shape (N, n), with friction held at standstill.

    :raises ControlError: it is not finite
    """
    signals = (motion.position, motion.velocity, motion.acceleration)
    standstill = StandstillFriction(
        window=torque.velocity_window,
        fade_time=settings.friction_fade_time,
        period=settings.period,
    )
    requested = torque.body(*signals)
    requested += torque.friction(standstill.velocities(motion.velocity), torque.load(*signals))
    if not np.isfinite(requested).all():
        raise ControlError('the model torque of the trajectory is not finite')
    return requested


def _check(spline: SplineTrajectory, torque: ModelTorque) -> None:
    if spline.joints != torque.joints:
        raise ControlError(
            f'the model has the joints {list(torque.joints)}, the trajectory has '
            f'{list(spline.joints)}'
        )
    velocity = spline.at(spline.duration)[1]
    fastest = int(np.argmax(np.abs(velocity)))
    if abs(velocity[fastest]) > REST_VELOCITY:
        raise ControlError(
            f'the trajectory must end at rest, joint {spline.joints[fastest]} ends at '
            f'{velocity[fastest]:.6g}'
        )


def _cycles(time: float, period: float, *, whole: bool = True) -> int:
    """Return the cycles within a time (`whole`), or those that cover it; at least one."""
    cycles = time / period
    return max(1, int(np.floor(cycles + 1e-9) if whole else np.ceil(cycles - 1e-9)))


def _shaped(
    target: Array,
    at_rest: Array,
    time: Array,
    initial: Array,
    ramp: int,
    settings: FeedforwardSettings,
) -> Array:
    """Limit, blend in, ramp out over the last `ramp` samples, and limit the rate.

    Only the initial difference of the torque is blended in, so that torque for the motion is not
    delayed and a short motion has all of it. The difference is that of the holding torque for a
    robot at rest, and of the torque of the motion for a moving robot. The smaller one is taken, so
    that the torque of an initial jerk is not blended in.

    :param at_rest: torque that holds the robot at the start of the trajectory, shape (n,)
    """
    limit = settings.limit
    initial = np.clip(initial, -limit, limit)
    share = np.clip(time / settings.ramp_up_time, 0.0, 1.0)[:, None]
    first = int(np.searchsorted(time, 0.0))
    steps = initial - np.stack([target[min(first, len(target) - 1)], at_rest])
    step = np.take_along_axis(steps, np.abs(steps).argmin(axis=0)[None], axis=0)
    effort = target + step * (1.0 - share)
    effort[:first] = initial
    np.clip(effort, -limit, limit, out=effort)
    if ramp:
        effort[-ramp - 1 :] *= np.linspace(1.0, 0.0, ramp + 1)[:, None]
    return _rate_limited(effort, initial, settings.rate * settings.period)


def _rate_limited(target: Array, initial: Array, step: Array) -> Array:
    """Follow the target from `initial`, by at most `step` per sample."""
    change = np.abs(np.diff(target, axis=0, prepend=initial[None]))
    if (change <= step).all():
        return target
    previous = initial
    for row in target:
        np.minimum(row, previous + step, out=row)
        np.maximum(row, previous - step, out=row)
        previous = row
    return target
