# SPDX-License-Identifier: Apache-2.0
"""Additive torque of a complete trajectory, for a controller that accepts effort points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn_ros.bounds import PLAN, check_bound
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.torque_plan import TRANSPORT, TorquePlan, cycles_of
from robodyn_ros.control.torque.delay import delayed
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque.standstill import StandstillFriction
from robodyn_ros.errors import ControlError, MotionError
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.trajectory import Motion
from robodyn_ros.long_work import poll
from robodyn_ros.models.interface import BLOCK_SIZE, Array, sample_blocks


def arriving_trajectory(
    points: TrajectoryPoints,
    torque: ModelTorque,
    settings: FeedforwardSettings,
    *,
    late: float | None,
    scale: float,
    initial: Array,
    hold_at_end: bool,
) -> TorquePlan:
    """Compute the additive torque of a trajectory that is sent to a controller now.

    Parameters as of `trajectory_effort`.

    :param points: any points of the joints of the model, in any order
    :param late: time since the start of the trajectory, in [s]; None: it starts on arrival
    :raises ControlError: as `trajectory_effort`
    :raises MotionError: the trajectory has ended, or has other joints than the model
    """
    points = points.select(torque.joints)
    offset, end = float(points.time[0]), float(points.time[-1])
    if late is None:
        begin = 0.0
    else:
        begin = late + TRANSPORT[0] + TRANSPORT[1] * (end - offset) / settings.period
        if late > end:
            raise MotionError(f'it ended {late - end:.3f} s before it arrived')
    return trajectory_effort(
        SplineTrajectory(points=replace(points, time=points.time - offset)),
        torque,
        settings,
        scale=scale,
        initial=initial,
        begin=max(offset, begin),
        offset=offset,
        hold_at_end=hold_at_end,
    )


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

    The torque is delayed by the settings' cycles, added to the effort of the points, blended in
    from `initial` during ramp_up_time, limited, and kept within the rate. After the motion the
    torque is ramped to zero, because a joint_trajectory_controller holds the last effort and
    commands it again after later cancels; the drive's integrator then carries gravity. With
    `hold_at_end` the last position is held until friction has faded out and gravity remains.

    :param scale: share of the model torque, 0..1; None: that of the settings
    :param initial: effort of the controller when the trajectory starts, (n,); None: zero
    :param begin: time up to which `initial` is kept, in [s]: the controller may miss this part
    :param offset: start time of the trajectory in the plan, in [s]
    :param hold_at_end: keep the torque that holds the robot instead of ramping to zero
    :raises ControlError: other joints than the model's, a motion that does not end at rest, or
        a model torque that is not finite
    :raises BoundError: the trajectory is too long
    """
    _check(spline, torque)
    motion, ramp = _sampled(spline, settings, hold_at_end)
    time = offset + motion.time
    requested = _model_torque(motion, torque, settings)
    share = settings.feedforward_scale if scale is None else scale
    target = spline.points.effort_at(motion.time)
    first = min(int(np.searchsorted(time, begin)), len(time) - 1)
    still = np.zeros((1, len(spline.joints)))
    at_rest = target[first] + share * torque.torque(motion.position[[first]], still, still)[0]
    target += share * delayed(requested, settings.additive_torque_delay)
    start = np.zeros(len(spline.joints)) if initial is None else initial
    effort = _shaped(target, at_rest, time - begin, start, ramp, settings)
    moved = (motion.position, motion.velocity, motion.acceleration)
    return TorquePlan(spline.joints, time, *moved, requested, effort, settings.period)


def _sampled(
    spline: SplineTrajectory, settings: FeedforwardSettings, hold_at_end: bool
) -> tuple[Motion, int]:
    """Return the motion with its end held, and the samples of the ramp to zero."""
    period = settings.period
    cycles = cycles_of(spline.duration, period, complete=False)
    ramp = fade = 0
    if hold_at_end:
        fade = cycles_of(settings.friction_fade_time, period, complete=False)
    else:
        ramp = cycles_of(settings.ramp_down_time, period)
    count = cycles + 1 + settings.additive_torque_delay + fade + ramp
    check_bound(PLAN, count * len(spline.joints))
    time: Array = period * np.arange(count, dtype=float)
    moved = np.empty((3, count, len(spline.joints)))
    for block in sample_blocks(count):
        part = spline.sample(time[block])
        moved[:, block] = part.position, part.velocity, part.acceleration
    moved[1:, cycles + 1 :] = 0.0
    return Motion(time, *moved), ramp


def _model_torque(motion: Motion, torque: ModelTorque, settings: FeedforwardSettings) -> Array:
    """Return the model torque of each sample, shape (N, n), with friction held at standstill.

    Compiled models keep all other threads waiting, so that it is computed in blocks.
    """
    signals = (motion.position, motion.velocity, motion.acceleration)
    standstill = StandstillFriction(
        window=torque.velocity_window,
        fade_time=settings.friction_fade_time,
        period=settings.period,
    )
    requested = np.empty_like(motion.position)
    for block in sample_blocks(len(requested)):
        own = [signal[block] for signal in signals]
        velocity = standstill.velocities(motion.velocity[block])
        requested[block] = torque.body(*own) + torque.friction(velocity, torque.load(*own))
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
    if abs(velocity[fastest]) > 1e-6:  # in rad/s or m/s, as in the JTC by default
        raise ControlError(
            f'the trajectory must end at rest, joint {spline.joints[fastest]} ends at '
            f'{velocity[fastest]:.6g}'
        )


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
    for number, row in enumerate(target):
        if number % BLOCK_SIZE == 0:
            poll()
        np.minimum(row, previous + step, out=row)
        np.maximum(row, previous - step, out=row)
        previous = row
    return target
