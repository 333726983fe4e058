# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planned_effort import (
    DELAY,
    FAST,
    FRICTION_AT_END,
    MODEL,
    REST,
    SETTINGS,
    TORQUE,
    TORQUE_AT_START,
    VALUES,
    check_limits,
    spline,
    trajectory_effort,
)

from robodyn_ros.bounds import BoundError
from robodyn_ros.control.feedforward.torque_plan import TRANSPORT, TorquePlan
from robodyn_ros.control.feedforward.trajectory_effort import (
    TrajectoryPlanner,
    effort_steps,
)
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import PlannedTorque
from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.errors import ControlError, MotionError
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.long_work import complete
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import BLOCK_SIZE


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


def test_slips_go_on_where_a_block_begins_at_a_reversal() -> None:
    model = build_model({**MODEL.describe()['parts'][0], 'friction': ['slip']})
    values = np.random.default_rng(1).uniform(0.5, 1.0, len(model.parameters))
    motion = spline(2 * BLOCK_SIZE * FAST.period)
    plan = trajectory_effort(motion, ModelTorque(model, values), FAST)
    np.testing.assert_array_equal(plan.velocity[BLOCK_SIZE], 0.0)
    expected = model.torque(plan.position, plan.velocity, plan.acceleration, values)
    np.testing.assert_allclose(plan.requested, expected, atol=1e-9)


def test_a_long_motion_is_planned_in_short_steps() -> None:
    assert len(list(effort_steps(spline(60.0), TORQUE, FAST))) >= 4 * 30000 // BLOCK_SIZE


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


def arriving(points: TrajectoryPoints, late: float | None) -> tuple[TorquePlan, str]:
    """Plan of a trajectory that is sent now while the controller applies 20 and -10 Nm."""
    law = TrajectoryPlanner(TORQUE, SETTINGS, TorqueThreshold(MODEL.joint_names, None))
    initial = np.array([20.0, -10.0])
    return complete(law.plan(points, late=late, initial=initial, replaces=False, enabled=True))


def test_a_trajectory_that_arrives_late_keeps_the_present_torque_until_it_takes_effect() -> None:
    points = replace(spline().points, time=spline().points.time + 0.5)
    initial = np.array([20.0, -10.0])
    for late, begin in (
        (None, 0.5),
        (0.1, 0.5),
        (1.0, 1.0 + TRANSPORT[0] + 1000 * TRANSPORT[1]),
    ):
        found, problem = arriving(points, late)
        wanted = trajectory_effort(
            spline(), TORQUE, SETTINGS, initial=initial, begin=begin, offset=0.5
        )
        np.testing.assert_allclose(found.time, wanted.time)
        np.testing.assert_allclose(found.effort, wanted.effort)
        assert (found.effort[found.time < begin - 1e-9] == initial).all() and not problem
    swapped = replace(points, joints=points.joints[::-1], position=points.position[:, ::-1])
    with pytest.raises(MotionError, match=r'it ended 0\.100 s before it arrived'):
        arriving(swapped, 2.6)
    assert arriving(points, 2.5)[0].effort.any()


@pytest.mark.parametrize(
    ('kind', 'text'),
    [('torque_max', 'torque_max is'), ('torque_threshold', 'torque_threshold is')],
)
def test_a_limit_refuses_a_trajectory_unless_it_replaces_a_motion(kind: str, text: str) -> None:
    limit = np.array([20.0, 10.0])
    options: dict[str, object] = {'check': PlannedTorque(TORQUE, limit, MODEL.joints)}
    if kind == 'torque_threshold':
        options = {'threshold': TorqueThreshold(MODEL.joint_names, limit)}
        options['threshold'].feedback(np.zeros(2))  # type: ignore[attr-defined]
    both = {'threshold': TorqueThreshold(MODEL.joint_names, None), **options}
    law = TrajectoryPlanner(TORQUE, SETTINGS, **both)  # type: ignore[arg-type]
    common = {'late': None, 'initial': np.zeros(2)}
    with pytest.raises(ControlError, match=text):
        complete(law.plan(spline().points, replaces=False, enabled=True, **common))  # type: ignore[arg-type]
    plan, problem = complete(law.plan(spline().points, replaces=True, enabled=True, **common))  # type: ignore[arg-type]
    assert not plan.effort.any() and 'so it passes without torque: ' in problem


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
