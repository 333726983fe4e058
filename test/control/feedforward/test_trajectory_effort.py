# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from control_arm import small_arm
from scipy.interpolate import BPoly

from robodyn_ros.bounds import BoundError
from robodyn_ros.cell.jtc import JointTrajectoryController
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.torque_plan import ARRAYS, MOTION, TRANSPORT, TorquePlan
from robodyn_ros.control.feedforward.trajectory_effort import (
    arriving_trajectory,
    trajectory_effort,
)
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError, MotionError
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.long_work import Cancellation, CancelledError, cancellable
from robodyn_ros.models.interface import BLOCK_SIZE, Array

MODEL, VALUES = small_arm()
TORQUE = ModelTorque(MODEL, VALUES)
SETTINGS = FeedforwardSettings(
    joints=MODEL.joint_names, max_torque=[200.0, 100.0], ramp_up_time=0.2, ramp_down_time=0.1
)
FAST = replace(SETTINGS, max_torque_rate=1e4)  # keeps up with friction when it turns
STEP = SETTINGS.rate * SETTINGS.period * (1 + 1e-9)
DELAY = 3
FRICTION_AT_END = np.array([-3.0, 3.0])
"""Coulomb friction of the way back."""
REST = np.zeros((1, 2))
TORQUE_AT_START = MODEL.torque(REST, REST, np.array([[0.5, -0.8]]) * np.pi**2, VALUES)[0]


def spline(duration: float = 2.0, effort: Array | None = None) -> SplineTrajectory:
    """There and back, at rest at both ends."""
    time = np.linspace(0.0, duration, 21)
    phase = 2.0 * np.pi * time[:, None] / duration
    size = np.array([0.5, -0.8])
    rate = 2.0 * np.pi / duration
    return SplineTrajectory(
        points=TrajectoryPoints(
            MODEL.joint_names,
            time,
            size * (1.0 - np.cos(phase)),
            size * rate * np.round(np.sin(phase), 12),
            size * rate**2 * np.cos(phase),
            effort,
        )
    )


def check_limits(plan: TorquePlan, initial: Array | float = 0.0) -> None:
    assert np.isfinite(plan.effort).all()
    assert (np.abs(plan.effort) <= SETTINGS.limit).all()
    assert (np.abs(np.diff(plan.effort, axis=0, prepend=np.full((1, 2), initial))) <= STEP).all()
    np.testing.assert_allclose(np.diff(plan.time), SETTINGS.period, rtol=1e-9)


def test_effort_is_the_model_torque_three_cycles_earlier() -> None:
    plan = trajectory_effort(spline(), TORQUE, FAST)
    motion = spline().sample(plan.time)
    expected = MODEL.torque(motion.position, motion.velocity, motion.acceleration, VALUES)
    still = np.flatnonzero((motion.velocity == 0.0).all(axis=1))
    assert still[:2].tolist() == [0, 500]
    expected[500] += 3.0 * np.sign(motion.velocity[499])  # friction of the way there, until back
    inner = slice(100, 1000)
    np.testing.assert_allclose(
        plan.effort[100 + DELAY : 1000 + DELAY], expected[inner], rtol=1e-10
    )
    np.testing.assert_allclose(plan.requested[:1000], expected[:1000], rtol=1e-12)
    np.testing.assert_allclose(plan.position, motion.position, atol=1e-14)


def test_a_motion_of_several_blocks_is_one_motion() -> None:
    """Friction at standstill depends on the samples before, also across blocks."""
    motion = spline(12.0)
    plan = trajectory_effort(motion, TORQUE, FAST)
    assert 2 * BLOCK_SIZE < 6000
    exact = motion.sample(plan.time)
    expected = MODEL.torque(exact.position, exact.velocity, exact.acceleration, VALUES)
    expected[3000] += 3.0 * np.sign(exact.velocity[2999])
    np.testing.assert_allclose(plan.requested[:6000], expected[:6000], rtol=1e-12)
    for name in ('position', 'velocity', 'acceleration'):
        np.testing.assert_allclose(
            getattr(plan, name)[:6000], getattr(exact, name)[:6000], atol=1e-14
        )


def test_a_plan_ends_when_it_is_cancelled() -> None:
    cancellation = Cancellation()
    cancellation.cancel('not wanted any more')
    with cancellable(cancellation), pytest.raises(CancelledError, match='not wanted any more'):
        trajectory_effort(spline(), TORQUE, FAST)


def test_it_ends_at_rest_with_a_straight_ramp_to_exactly_zero() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS)
    assert len(plan.time) == 1001 + DELAY + 50
    rest = np.zeros((1, 2))
    held = MODEL.torque(plan.position[-1:], rest, rest, VALUES) + FRICTION_AT_END
    np.testing.assert_allclose(
        plan.effort[-50:], held * np.linspace(1, 0, 51)[1:, None], atol=1e-12
    )
    assert not plan.effort[-1].any()
    assert (plan.position[1000:] == plan.position[1000]).all()
    assert not plan.velocity[1001:].any()
    assert not plan.acceleration[1001:].any()


def test_hold_at_end_keeps_gravity_and_no_friction() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS, hold_at_end=True)
    fade = round(SETTINGS.friction_fade_time / SETTINGS.period)
    assert len(plan.time) == 1001 + DELAY + fade
    longer = replace(SETTINGS, friction_fade_time=(fade + 0.4) * SETTINGS.period)
    held = trajectory_effort(spline(), TORQUE, longer, hold_at_end=True)
    assert len(held.time) == len(plan.time) + 1, 'the fade is complete'
    rest = np.zeros((1, 2))
    gravity = TORQUE.torque(plan.position[-1:], rest, rest)[0]
    assert np.abs(gravity).max() > 1.0
    settled = plan.requested[1001 : 1001 + fade // 2 - 1]
    np.testing.assert_allclose(settled, np.tile(gravity + FRICTION_AT_END, (len(settled), 1)))
    np.testing.assert_allclose(plan.requested[-1], gravity, rtol=1e-12)
    np.testing.assert_allclose(plan.effort[-1], plan.requested[-1 - DELAY], rtol=1e-12)
    check_limits(plan)


def test_it_starts_from_what_the_controller_applies_now() -> None:
    initial = np.array([20.0, -10.0])
    plan = trajectory_effort(spline(), TORQUE, SETTINGS, initial=initial, begin=0.1)
    np.testing.assert_allclose(plan.effort[:51], np.tile(initial, (51, 1)))
    full = trajectory_effort(spline(), TORQUE, SETTINGS)
    np.testing.assert_allclose(plan.effort[150:], full.effort[150:])
    check_limits(plan, initial)
    late = trajectory_effort(spline(), TORQUE, SETTINGS, initial=initial, begin=0.6, offset=0.5)
    np.testing.assert_allclose(late.effort, plan.effort, rtol=1e-12)
    np.testing.assert_allclose(late.time, plan.time + 0.5)
    # A controller that applies more than the limit is brought back to it at once.
    above = trajectory_effort(spline(), TORQUE, SETTINGS, initial=3.0 * SETTINGS.limit * [1, -1])
    check_limits(above, SETTINGS.limit * [1, -1])


def test_a_trajectory_that_arrives_late_keeps_the_present_torque_until_it_takes_effect() -> None:
    points = replace(spline().points, time=spline().points.time + 0.5)
    initial = np.array([20.0, -10.0])
    common = {'scale': 0.5, 'initial': initial, 'hold_at_end': False}
    for late, begin in (
        (None, 0.5),
        (0.1, 0.5),
        (1.0, 1.0 + TRANSPORT[0] + 1000 * TRANSPORT[1]),
    ):
        found = arriving_trajectory(points, TORQUE, SETTINGS, late=late, **common)  # type: ignore[arg-type]
        wanted = trajectory_effort(
            spline(), TORQUE, SETTINGS, scale=0.5, initial=initial, begin=begin, offset=0.5
        )
        np.testing.assert_allclose(found.time, wanted.time)
        np.testing.assert_allclose(found.effort, wanted.effort)
        assert (found.effort[found.time < begin - 1e-9] == initial).all()
    swapped = replace(points, joints=points.joints[::-1], position=points.position[:, ::-1])
    with pytest.raises(MotionError, match=r'it ended 0\.100 s before it arrived'):
        arriving_trajectory(swapped, TORQUE, SETTINGS, late=2.6, **common)  # type: ignore[arg-type]
    assert arriving_trajectory(points, TORQUE, SETTINGS, late=2.5, **common).effort.any()  # type: ignore[arg-type]


def test_a_remainder_takes_effect_after_the_time_that_its_points_need() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS, offset=0.5)
    assert plan.arrival(0.0) == 0.5, 'not before the plan'
    left = len(plan.time) - plan.row(1.0 + TRANSPORT[0])
    assert plan.arrival(1.0) == pytest.approx(1.0 + TRANSPORT[0] + left * TRANSPORT[1])
    turned = replace(plan, effort=plan.effort * [1.0, -1.0])
    np.testing.assert_array_equal(
        turned.largest_effort, np.abs(plan.effort).max(axis=0) * [1.0, -1.0]
    )


def test_only_the_offset_at_the_beginning_is_blended_in() -> None:
    free = replace(FAST, additive_torque_delay=0)
    plan = trajectory_effort(spline(), TORQUE, free, initial=TORQUE_AT_START)
    np.testing.assert_allclose(plan.effort[:400], plan.requested[:400], rtol=1e-12)
    other = trajectory_effort(spline(), TORQUE, free, initial=TORQUE_AT_START + 1.0)
    half = 50  # rows: half of the time to blend in
    np.testing.assert_allclose(other.effort[half] - plan.effort[half], 0.5, rtol=1e-9)


@pytest.mark.parametrize('scale', [1.0, 0.5])
def test_a_motion_that_begins_with_a_jerk_has_its_torque_at_the_rate_allowed(scale: float) -> None:
    free = replace(FAST, additive_torque_delay=0, feedforward_scale=scale)
    plan = trajectory_effort(spline(), TORQUE, free)
    at_rest = scale * MODEL.torque(REST, REST, REST, VALUES)[0]
    assert (np.abs(scale * TORQUE_AT_START - at_rest) > 1.0).all()
    missing = scale * plan.requested[:100] - plan.effort[:100]
    share = np.arange(100)[:, None] * SETTINGS.period / SETTINGS.ramp_up_time
    expected = at_rest * np.clip(1.0 - share, 0.0, 1.0)
    np.testing.assert_allclose(missing[10:], expected[10:], atol=1e-9)


def test_what_begins_after_the_end_keeps_what_is_applied() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS, initial=np.ones(2), begin=9.0)
    assert (plan.effort[:1000] == 1.0).all()
    assert not plan.effort[-1].any()


def test_effort_of_the_points_is_kept_and_scale_zero_leaves_only_it() -> None:
    own = np.linspace(0.0, 20.0, 21)[:, None] * np.ones(2)
    plan = trajectory_effort(spline(effort=own), TORQUE, FAST, scale=0.0)
    np.testing.assert_allclose(plan.effort[200:1000, 0], 10.0 * plan.time[200:1000], rtol=1e-9)
    both = trajectory_effort(spline(effort=own), TORQUE, FAST)
    alone = trajectory_effort(spline(), TORQUE, FAST)
    np.testing.assert_allclose(both.effort, plan.effort + alone.effort, atol=1e-9)


def test_limit_and_rate_hold_for_wild_motions() -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        position = random.uniform(-3, 3, (12, 2))
        points = TrajectoryPoints(MODEL.joint_names, np.linspace(0.0, 1.1, 12), position)
        initial = random.uniform(-100, 100, 2)
        wild = SplineTrajectory(points=points)
        check_limits(trajectory_effort(wild, TORQUE, SETTINGS, initial=initial), initial)
        short = SplineTrajectory(points=TrajectoryPoints(MODEL.joint_names, [0.0], position[:1]))
        plan = trajectory_effort(short, TORQUE, SETTINGS, initial=initial)
        check_limits(plan, initial)
        assert not plan.effort[-1].any()


def test_a_duration_between_two_samples_is_covered() -> None:
    plan = trajectory_effort(spline(1.9991), TORQUE, SETTINGS, offset=0.5, hold_at_end=True)
    assert plan.time[0] == 0.5
    fade = round(SETTINGS.friction_fade_time / SETTINGS.period)
    np.testing.assert_allclose(plan.time[-1 - DELAY - fade], 2.5)
    np.testing.assert_allclose(plan.position[-1], spline(1.9991).points.position[-1])


@pytest.mark.parametrize('at', [0.2, 0.7313, 1.99, 2.05, 9.0])
@pytest.mark.parametrize('transport', [0.0, 0.0331, 0.15])
@pytest.mark.parametrize('hold', [True, False])
def test_faded_goes_on_with_the_motion_and_takes_the_torque_away(
    at: float, transport: float, hold: bool
) -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS, hold_at_end=hold)
    torque, sent = plan.effort_at(at), at - transport
    rest = plan.faded(at, SETTINGS, sent=sent)
    # It starts in the past with what is commanded: a controller goes on without a jump.
    assert sent - 1.001 * plan.period < rest.time[0] <= sent + 1e-9
    old = rest.time < at + 1e-5 * plan.period
    for time, effort in zip(rest.time[old], rest.effort[old], strict=True):
        np.testing.assert_allclose(effort, plan.effort_at(time), atol=1e-9)
    ramp, later = rest.effort[~old], rest.time[~old]
    # As long as the motion or the ramp, whichever ends later.
    assert rest.time[-1] == pytest.approx(max(plan.time[-1], later[0] + 0.1))
    np.testing.assert_allclose(ramp[:51], torque * np.linspace(1, 0, 51)[:, None])
    assert not ramp[50:].any()
    np.testing.assert_allclose(rest.position, spline().sample(rest.time).position, atol=1e-12)
    check_limits(replace(rest, effort=ramp, time=later), torque) if torque.all() else None


def points_of(plan: TorquePlan) -> TrajectoryPoints:
    fields = plan.position, plan.velocity, plan.acceleration
    return TrajectoryPoints(plan.joints, plan.time, *fields, plan.effort)


@pytest.mark.parametrize('transport', [0.0, 0.011, 0.04])
def test_a_controller_goes_on_without_a_jump_where_the_torque_is_taken_away(
    transport: float,
) -> None:
    """Set points that stand still for a cycle made a jump of 2000 Nm on a six-axis arm."""
    plan, sent = trajectory_effort(spline(), TORQUE, SETTINGS), 0.731
    faded = plan.faded(plan.arrival(sent), SETTINGS, sent=sent)
    controller = JointTrajectoryController(joints=plan.joints, position=plan.position[0])
    controller.accept(points_of(plan), now=0.0, stamp=0.0)
    cycles = SETTINGS.period * np.arange(700)
    arrived, references = False, []
    for now in cycles:
        if now >= sent + transport and not arrived:
            controller.accept(points_of(faded), now=float(now), stamp=0.0)
            arrived = True
        references.append(controller.update(float(now)))
    expected = spline().sample(cycles)
    np.testing.assert_allclose([r.position for r in references], expected.position, atol=1e-9)
    np.testing.assert_allclose([r.velocity for r in references], expected.velocity, atol=1e-6)
    effort = np.array([reference.effort for reference in references])
    assert (np.abs(np.diff(effort, axis=0)) <= STEP + 1e-9).all() and not effort[-1].any()


def test_effort_between_samples_is_interpolated() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS)
    times = np.random.default_rng(0).uniform(0.0, 2.2, 50)
    for time in times:
        expected = [np.interp(time, plan.time, column) for column in plan.effort.T]
        np.testing.assert_allclose(plan.effort_at(time), expected, atol=1e-9)
    later = replace(plan, time=plan.time + 0.5)
    for time in (0.4, 0.5, 0.5 + 0.25 * plan.period, 0.7, 3.0):
        expected = [np.interp(time - 0.5, plan.time, column) for column in plan.requested.T]
        np.testing.assert_allclose(later.requested_at(time), expected, atol=1e-9)


def test_held_goes_on_at_rest_with_the_last_position_and_torque() -> None:
    part = trajectory_effort(spline(), TORQUE, SETTINGS, offset=0.5)
    part = replace(part, **{name: getattr(part, name)[:300] for name in ('time', *ARRAYS)})
    held = part.held(4)
    for name in ARRAYS:
        last = 0.0 * part.velocity[-1] if name in MOTION else getattr(part, name)[-1]
        np.testing.assert_array_equal(getattr(held, name)[300:], np.tile(last, (4, 1)))
        np.testing.assert_array_equal(getattr(held, name)[:300], getattr(part, name))
    np.testing.assert_allclose(held.time, 0.5 + part.period * np.arange(304))


def test_torque_that_only_falls_too_fast_is_kept_to_the_rate() -> None:
    own = np.append(np.linspace(0.0, 90.0, 20), 0.0)[:, None] * [1.0, 0.5]
    slow = replace(SETTINGS, max_torque_rate=[1500.0, 750.0], ramp_down_time=0.2)
    plan = trajectory_effort(spline(1.0, own), TORQUE, slow, scale=0.0)
    change = np.diff(plan.effort, axis=0)
    np.testing.assert_allclose(change.min(axis=0), [-3.0, -1.5])
    assert change.max() < 0.3 and plan.effort.max() > 85.0


def test_refuses_what_gives_no_valid_torque() -> None:
    for last in (0.3, -0.3, 2e-6):
        points = TrajectoryPoints(
            MODEL.joint_names, [0.0, 1.0], np.zeros((2, 2)), np.array([[0.0, 0.0], [0.0, last]])
        )
        with pytest.raises(ControlError, match=f'must end at rest, joint joint2 ends at {last:g}'):
            trajectory_effort(SplineTrajectory(points=points), TORQUE, SETTINGS)
    points = replace(points, velocity=np.array([[0.0, 0.0], [0.0, 9e-7]]))
    trajectory_effort(SplineTrajectory(points=points), TORQUE, SETTINGS)
    places = np.array([[0.0, 0.0], [1e14, 1e14], [0.0, 0.0]])
    huge = TrajectoryPoints(MODEL.joint_names, [0.0, 1e-140, 2e-140], places)
    with pytest.raises(ControlError, match='not finite'), np.errstate(all='ignore'):
        trajectory_effort(SplineTrajectory(points=huge), TORQUE, SETTINGS)
    far = replace(points, time=np.array([0.0, 100_000.0]))
    with pytest.raises(BoundError, match=r'at most 2000000 values, got 1e\+08'):
        trajectory_effort(SplineTrajectory(points=far), TORQUE, SETTINGS)
    other = TrajectoryPoints(('a', 'b'), [0.0, 1.0], np.zeros((2, 2)))
    with pytest.raises(ControlError, match='the trajectory has'):
        trajectory_effort(SplineTrajectory(points=other), TORQUE, SETTINGS)


def test_the_effort_ends_where_it_becomes_zero_for_good() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS)
    at = plan.end_of_effort
    assert plan.effort_at(at - SETTINGS.period).any() and not plan.effort_at(at).any()
    assert at == pytest.approx(plan.time[-1])
    alone = replace(plan, effort=plan.effort * [0.0, 1.0])  # one joint never has torque
    assert alone.end_of_effort == at
    assert trajectory_effort(spline(), TORQUE, SETTINGS, hold_at_end=True).end_of_effort == np.inf
    assert replace(plan, effort=0.0 * plan.effort).end_of_effort == -np.inf


def test_the_distance_forgives_a_lag_and_nothing_else() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS)
    late, early = plan.position[200], plan.position[300]
    assert not plan.distance(plan.position[251], 0.5, 0.1).any()
    assert not plan.distance(late, 0.5, 0.1).any()
    assert not plan.distance(early, 0.6, 0.0).any()
    off = plan.distance(early, 0.5, 0.1)
    np.testing.assert_allclose(off, np.abs(early - plan.position[251]))
    np.testing.assert_allclose(plan.distance(plan.position[0], -1.0, 0.1), 0.0)
    np.testing.assert_allclose(plan.distance(np.array([9.0, 0.0]), 99.0, 0.1), [9.0, 0.0])


@pytest.mark.parametrize('stride', [1, 2, 7])
def test_a_plan_of_fewer_points_is_the_same_motion_and_torque(stride: int) -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS)
    few = plan.every(stride)
    assert len(few.time) == int(np.ceil((len(plan.time) - 1) / stride)) + 1
    np.testing.assert_allclose(np.diff(few.time), stride * SETTINGS.period, rtol=1e-9)
    for time in few.time[:-1]:
        np.testing.assert_array_equal(few.effort_at(time), plan.effort_at(time))
        np.testing.assert_array_equal(few.position[few.row(time)], plan.position[plan.row(time)])
    assert not few.effort[-1].any() and not few.velocity[-1].any()
    assert (np.abs(np.diff(few.effort, axis=0)) <= stride * STEP).all()
    rest = few.faded(0.7, SETTINGS, sent=0.7)
    assert not rest.effort[-1].any()
    np.testing.assert_allclose(np.diff(rest.time), stride * SETTINGS.period, rtol=1e-9)


@pytest.mark.parametrize('stride', [1, 3, 18, 30, 50, 80])
def test_a_ramp_over_fewer_points_keeps_the_rate_also_of_the_largest_torque(stride: int) -> None:
    slow = replace(SETTINGS, max_torque_rate=SETTINGS.limit / SETTINGS.ramp_down_time)
    few = trajectory_effort(spline(), TORQUE, slow).every(stride)
    for sign in ([1.0, 1.0], [1.0, -0.1], [0.1, -1.0], [-1.0, -1.0]):
        few = replace(few, effort=0.0 * few.effort + slow.limit * sign)
        rest = few.faded(0.7, slow, sent=0.7)
        assert (np.abs(np.diff(rest.effort, axis=0)) <= 1.000001 * slow.rate * few.period).all()
        gone = rest.time[int(np.argmin(rest.effort.any(axis=1)))]
        assert gone <= rest.time[1] + slow.ramp_down_time + few.period  # the first one is kept
    few = replace(few, effort=0.1 * few.effort)  # little torque goes in whole samples of the time
    left = few.faded(0.7, slow, sent=0.7).effort[1:].any(axis=1).sum()
    assert left <= max(1, int(slow.ramp_down_time / few.period + 1e-9))


def test_fewer_points_lead_the_robot_farther_off_its_way() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS)
    distances = [plan.distance_to(plan.every(stride)) for stride in (1, 5, 51, 250)]
    assert distances[0] < 1e-12 and distances[1] < 1e-4 < distances[2] < distances[3]
    later = replace(plan, time=plan.time + 0.5)
    assert later.distance_to(later.every(250)) == pytest.approx(distances[3])
    coarse = plan.every(250)  # the JTC's quintic between two of its samples, by hand
    own = BPoly.from_derivatives(
        coarse.time, np.stack([coarse.position, coarse.velocity, coarse.acceleration], axis=1)
    )
    assert distances[3] == pytest.approx(np.abs(own(plan.time) - plan.position).max(), rel=1e-6)
