# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planned_effort import (
    SETTINGS,
    STEP,
    TORQUE,
    check_limits,
    spline,
    trajectory_effort,
)
from scipy.interpolate import BPoly

from robodyn_ros.cell.jtc import JointTrajectoryController
from robodyn_ros.control.feedforward.torque_plan import TRANSPORT, TorquePlan, limit_rate
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.long_work import complete


def test_a_remainder_takes_effect_after_the_time_that_its_points_need() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS, offset=0.5)
    assert plan.arrival(0.0) == 0.5, 'not before the plan'
    left = len(plan.time) - plan.row(1.0 + TRANSPORT[0])
    assert plan.arrival(1.0) == pytest.approx(1.0 + TRANSPORT[0] + left * TRANSPORT[1])
    turned = replace(plan, effort=plan.effort * [1.0, -1.0])
    np.testing.assert_array_equal(
        turned.largest_effort, np.abs(plan.effort).max(axis=0) * [1.0, -1.0]
    )


@pytest.mark.parametrize('at', [0.2, 0.7313, 1.99, 2.05, 9.0])
@pytest.mark.parametrize('transport', [0.0, 0.0331, 0.15])
@pytest.mark.parametrize('hold', [True, False])
def test_faded_goes_on_with_the_motion_and_takes_the_torque_away(
    at: float, transport: float, hold: bool
) -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS, hold_at_end=hold)
    torque, sent = plan.effort_at(at), at - transport
    rest = plan.fade(at, SETTINGS, sent=sent)
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
    """A set point that repeated for one cycle made a torque jump by 2000 Nm."""
    plan, sent = trajectory_effort(spline(), TORQUE, SETTINGS), 0.731
    faded = plan.fade(plan.arrival(sent), SETTINGS, sent=sent)
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
        np.testing.assert_allclose(later.model_torque_at(time), expected, atol=1e-9)


def test_the_effort_ends_where_it_becomes_zero_for_good() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS)
    at = plan.end_of_effort
    assert plan.effort_at(at - SETTINGS.period).any() and not plan.effort_at(at).any()
    assert at == pytest.approx(plan.time[-1])
    alone = replace(plan, effort=plan.effort * [0.0, 1.0])  # one joint never has torque
    assert alone.end_of_effort == at
    assert trajectory_effort(spline(), TORQUE, SETTINGS, hold_at_end=True).end_of_effort == np.inf
    assert replace(plan, effort=0.0 * plan.effort).end_of_effort == -np.inf


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
    rest = few.fade(0.7, SETTINGS, sent=0.7)
    assert not rest.effort[-1].any()
    np.testing.assert_allclose(np.diff(rest.time), stride * SETTINGS.period, rtol=1e-9)


@pytest.mark.parametrize('stride', [1, 3, 18, 30, 50, 80])
def test_a_ramp_over_fewer_points_keeps_the_rate_also_of_the_largest_torque(stride: int) -> None:
    slow = replace(SETTINGS, max_torque_rate=SETTINGS.limit / SETTINGS.ramp_down_time)
    few = trajectory_effort(spline(), TORQUE, slow).every(stride)
    for sign in ([1.0, 1.0], [1.0, -0.1], [0.1, -1.0], [-1.0, -1.0]):
        few = replace(few, effort=0.0 * few.effort + slow.limit * sign)
        rest = few.fade(0.7, slow, sent=0.7)
        assert (np.abs(np.diff(rest.effort, axis=0)) <= 1.000001 * slow.rate * few.period).all()
        gone = rest.time[int(np.argmin(rest.effort.any(axis=1)))]
        assert gone <= rest.time[1] + slow.ramp_down_time + few.period  # the first one is kept
    few = replace(few, effort=0.1 * few.effort)  # little torque goes in whole samples of the time
    left = few.fade(0.7, slow, sent=0.7).effort[1:].any(axis=1).sum()
    assert left <= max(1, int(slow.ramp_down_time / few.period + 1e-9))


def test_fewer_points_lead_the_robot_farther_off_its_way() -> None:
    plan = trajectory_effort(spline(), TORQUE, SETTINGS)
    distances = [complete(plan.distance_to(plan.every(stride))) for stride in (1, 5, 51, 250)]
    assert distances[0] < 1e-12 and distances[1] < 1e-4 < distances[2] < distances[3]
    later = replace(plan, time=plan.time + 0.5)
    assert complete(later.distance_to(later.every(250))) == pytest.approx(distances[3])
    coarse = plan.every(250)  # the JTC's quintic between two of its samples, by hand
    own = BPoly.from_derivatives(
        coarse.time, np.stack([coarse.position, coarse.velocity, coarse.acceleration], axis=1)
    )
    assert distances[3] == pytest.approx(np.abs(own(plan.time) - plan.position).max(), rel=1e-6)


def test_a_joined_plan_ends_like_the_plan_within_limit_and_rate() -> None:
    """Also where its ramp to zero takes the full rate, and has no time for the difference."""
    random = np.random.default_rng(0)
    slow = replace(SETTINGS, max_torque_rate=SETTINGS.limit / SETTINGS.ramp_down_time)
    smooth = trajectory_effort(spline(), TORQUE, slow, hold_at_end=False)
    count, step = smooth.effort.shape, slow.rate * smooth.period
    ramp = round(slow.ramp_down_time / smooth.period)
    for number in range(1000):
        levels = random.uniform(-1.0, 1.0, (8, count[1])) * slow.limit
        present = random.uniform(-1.0, 1.0, count[1]) * slow.limit
        time = smooth.time[-1] - random.uniform(0.0, 2.0 * slow.ramp_down_time)
        if number == 0:  # the worst: halfway down the ramp, and the controller is at its top
            levels[-2:], present = slow.limit, slow.limit
            time = smooth.time[-1] - 0.5 * slow.ramp_down_time
        effort = np.repeat(levels, count[0] // 8 + 1, axis=0)[: count[0]]
        effort[-ramp - 1 :] = 0.0
        limit_rate(effort, np.zeros(count[1]), step)
        joined = replace(smooth, effort=effort).join(present, time, slow)
        assert not joined.effort[-1].any(), 'exactly: the controller holds its last effort'
        change = np.diff(joined.effort[joined.row(time) :], axis=0, prepend=present[None])
        assert (np.abs(change) <= step * (1.0 + 1e-9)).all()
        assert (np.abs(joined.effort) <= slow.limit).all()
