# SPDX-License-Identifier: Apache-2.0
"""Additive torque of a complete trajectory, for a controller that accepts effort points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from robodyn_ros.bounds import PLAN, check_bound
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.torque_plan import (
    TRANSPORT,
    TorquePlan,
    cycles_of,
    limit_rate,
)
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque.standstill import StandstillFriction
from robodyn_ros.control.torque_limits import PlannedTorque
from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.errors import ControlError, MotionError
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.trajectory import Motion
from robodyn_ros.long_work import Steps
from robodyn_ros.models.interface import Array, sample_blocks


@dataclass
class TrajectoryPlanner:
    """Model, settings and limits of the torque of trajectories.

    :param threshold: torque_threshold, which the additive torque must not exceed
    :param check: torque_max; None: it is not given
    :param hold_at_end: keep the torque that holds the robot at the end of a trajectory
    :ivar scale: share of the model torque, 0..1
    """

    torque: ModelTorque
    settings: FeedforwardSettings
    threshold: TorqueThreshold
    check: PlannedTorque | None = None
    hold_at_end: bool = False

    def __post_init__(self) -> None:
        """Start with the scale of the settings."""
        self.scale = self.settings.feedforward_scale

    def plan(
        self,
        points: TrajectoryPoints,
        *,
        late: float | None,
        initial: Array,
        replaces: bool,
        enabled: bool,
    ) -> Steps[tuple[TorquePlan, str]]:
        """Compute the torque of a trajectory that is sent to a controller now, within all limits.

        A trajectory that exceeds a limit but replaces a running motion has no model torque,
        because it may stop this motion.

        :param points: any points of the joints of the model, in any order
        :param late: time since the start of the trajectory, in [s]; None: it starts on arrival
        :param initial: effort of the controller at present, shape (n,), in [Nm] or [N]
        :param replaces: True if the controller executes another motion
        :param enabled: False: without model torque
        :return: the plan, and '' or why it has no model torque
        :raises RobodynError: it cannot be planned, or exceeds a limit and replaces no motion
        """
        points = points.select(self.torque.joints)
        offset, end = float(points.time[0]), float(points.time[-1])
        begin = 0.0
        if late is not None:
            begin = late + TRANSPORT[0] + TRANSPORT[1] * (end - offset) / self.settings.period
            if late > end:
                raise MotionError(f'it ended {late - end:.3f} s before it arrived')
        spline = SplineTrajectory(points=replace(points, time=points.time - offset))
        steps: Callable[..., Steps[TorquePlan]] = partial(
            effort_steps, spline, self.torque, self.settings, initial=initial,
            begin=max(offset, begin), offset=offset, hold_at_end=self.hold_at_end,
        )  # fmt: skip
        plan = yield from steps(scale=self.scale if enabled else 0.0)
        try:
            yield from self._check(plan, enabled)
        except ControlError as error:
            if not replaces:
                raise
            text = 'the trajectory replaces a running one, so it passes without torque'
            return (yield from steps(scale=0.0)), f'{text}: {error}'
        return plan, ''

    def _check(self, plan: TorquePlan, enabled: bool) -> Steps[None]:
        """Compare a plan with torque_max and torque_threshold."""
        if self.check is not None:
            yield from self.check.check(plan)
        threshold = self.threshold
        if not enabled or threshold.limit is None:
            return
        if problem := threshold.command(plan.largest_effort) or threshold.silence():
            raise ControlError(problem)


def effort_steps(
    spline: SplineTrajectory,
    torque: ModelTorque,
    settings: FeedforwardSettings,
    *,
    scale: float | None = None,
    initial: Array | None = None,
    begin: float = 0.0,
    offset: float = 0.0,
    hold_at_end: bool = False,
) -> Steps[TorquePlan]:
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
    motion, ramp = yield from _sample(spline, settings, hold_at_end)
    time = offset + motion.time
    requested = yield from _model_torque(motion, torque, settings)
    share = settings.feedforward_scale if scale is None else scale
    first = np.array([min(int(np.searchsorted(time, begin)), len(time) - 1)])
    still = np.zeros((1, len(spline.joints)))
    at_rest = spline.points.effort_at(motion.time[first])
    at_rest += share * torque.torque(motion.position[first], still, still)
    target = np.empty_like(requested)
    for block in sample_blocks(len(target)):
        rows = np.arange(block.start, block.stop) - settings.additive_torque_delay
        target[block] = spline.points.effort_at(motion.time[block])
        target[block] += share * requested[np.maximum(rows, 0)]
        yield
    start = np.zeros(len(spline.joints)) if initial is None else initial
    effort = yield from _shape(target, at_rest[0], time - begin, start, ramp, settings)
    moved = (motion.position, motion.velocity, motion.acceleration)
    return TorquePlan(spline.joints, time, *moved, requested, effort, settings.period)


def _sample(
    spline: SplineTrajectory, settings: FeedforwardSettings, hold_at_end: bool
) -> Steps[tuple[Motion, int]]:
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
        yield
    moved[1:, cycles + 1 :] = 0.0
    return Motion(time, *moved), ramp


def _model_torque(
    motion: Motion, torque: ModelTorque, settings: FeedforwardSettings
) -> Steps[Array]:
    """Return the model torque of each sample, shape (N, n), with friction held at standstill."""
    signals = (motion.position, motion.velocity, motion.acceleration)
    standstill = StandstillFriction(
        window=torque.velocity_window,
        fade_time=settings.friction_fade_time,
        period=settings.period,
    )
    requested = np.empty_like(motion.position)
    springs = torque.springs(motion.position) if torque.slips else None
    for block in sample_blocks(len(requested)):
        moved = [signal[block] for signal in signals]
        velocity = standstill.velocities(motion.velocity[block])
        requested[block] = torque.body(*moved) + torque.friction(velocity, torque.load(*moved))
        if springs is not None:  # slips go on from block to block
            requested[block] += springs[block] - torque.springs(moved[0])
        if not np.isfinite(requested[block]).all():
            raise ControlError('the model torque of the trajectory is not finite')
        yield
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


def _shape(
    target: Array,
    at_rest: Array,
    time: Array,
    initial: Array,
    ramp: int,
    settings: FeedforwardSettings,
) -> Steps[Array]:
    """Limit, blend in, ramp out over the last `ramp` samples, and limit the rate, in place.

    Only the initial difference of the torque is blended in, so that torque for the motion is not
    delayed and a short motion has all of it. The difference is that of the holding torque for a
    robot at rest, and of the torque of the motion for a moving robot. The smaller one is taken, so
    that the torque of an initial jerk is not blended in.

    :param at_rest: torque that holds the robot at the start of the trajectory, shape (n,)
    """
    limit = settings.limit
    previous = initial = np.clip(initial, -limit, limit)
    first = int(np.searchsorted(time, 0.0))
    steps = initial - np.stack([target[min(first, len(target) - 1)], at_rest])
    step = np.take_along_axis(steps, np.abs(steps).argmin(axis=0)[None], axis=0)
    if ramp:
        fade = np.linspace(1.0, 0.0, ramp + 1)[:, None]
    for block in sample_blocks(len(target)):
        effort = target[block]
        effort += step * (1.0 - np.clip(time[block] / settings.ramp_up_time, 0.0, 1.0)[:, None])
        effort[: max(first - block.start, 0)] = initial
        np.clip(effort, -limit, limit, out=effort)
        done = block.stop - (len(target) - ramp - 1)  # samples of the ramp up to this block's end
        if ramp and done > 0:
            rows = min(done, len(effort))
            effort[-rows:] *= fade[done - rows : done]
        limit_rate(effort, previous, settings.rate * settings.period)
        previous = effort[-1]
        yield
    return target
