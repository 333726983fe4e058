# SPDX-License-Identifier: Apache-2.0
"""States of trajectories with torque: each event in each state."""

from __future__ import annotations

import numpy as np
import pytest
from planned_effort import SETTINGS, TORQUE, spline, trajectory_effort

from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.trajectory_state import (
    MOST,
    ActivePlan,
    Arrived,
    State,
    TrajectoryState,
)
from robodyn_ros.errors import ControlError, Fault

START = 10**18
PLAN = trajectory_effort(spline(), TORQUE, SETTINGS)
FAULT = Fault('state_missing', 'no joint states')
WATCH = StateWatch(width=2, timeout=0.0)


def at(seconds: float) -> int:
    """Time in the motion as ROS time, in [ns]."""
    return START + round(1e9 * seconds)


def arrived() -> Arrived:
    return Arrived(b'', lambda _: None, lambda _: None)


def made(state: State) -> TrajectoryState:
    """A machine in this state, half a second after the start of a motion, if there is one."""
    machine = TrajectoryState()
    machine.enable()
    if state is not State.IDLE:
        machine.start(ActivePlan(PLAN, START, stamped=True))
    if state is State.PLANNING:
        machine.arrive(arrived())
    if state in (State.STOPPING, State.FAULT):
        stop = machine.stop(at(0.5), SETTINGS, WATCH)
        assert stop is not None
        machine.start(stop)
    if state is State.FAULT:
        machine.trip(FAULT)
    assert machine.state(at(0.5)) is state
    return machine


def withdraw(machine: TrajectoryState) -> None:
    machine.drop()


def send(machine: TrajectoryState) -> None:
    machine.drop()
    machine.start(ActivePlan(PLAN, START, stamped=True))


EVENTS = {
    'arrive': lambda machine: machine.arrive(arrived()),
    'send': send,
    'withdraw': withdraw,
    'leave': TrajectoryState.leave,
    'trip': lambda machine: machine.trip(FAULT),
    'reset': TrajectoryState.reset,
}
N, P, R, S, F = State
AFTER = {
    # before: arrive, send, withdraw, leave, trip, reset
    N: (P, R, N, N, F, N),
    P: (P, R, R, P, F, P),
    R: (P, R, R, N, F, R),
    S: (P, R, S, N, F, S),
    F: (F, F, F, F, F, S),
}


@pytest.mark.parametrize('state', State)
@pytest.mark.parametrize('event', EVENTS)
def test_every_event_in_every_state(state: State, event: str) -> None:
    machine = made(state)
    EVENTS[event](machine)  # type: ignore[no-untyped-call]
    assert machine.state(at(0.5)) is AFTER[state][list(EVENTS).index(event)]
    assert not (machine.fault and machine.enabled)


@pytest.mark.parametrize('state', [State.RUNNING, State.STOPPING])
def test_a_motion_ends_by_itself(state: State) -> None:
    assert made(state).state(at(10.0)) is State.IDLE


def test_a_fault_holds_until_a_reset_and_only_then_torque_is_enabled() -> None:
    machine = made(State.FAULT)
    with pytest.raises(ControlError, match='held at zero by a fault: no joint states'):
        machine.enable()
    assert machine.reset() == 'cleared: no joint states'
    assert machine.reset() == 'there was no fault' and not machine.enabled
    machine.enable()


def test_the_stop_is_the_remainder_with_torque_that_ramps_to_zero() -> None:
    machine = made(State.RUNNING)
    stop = machine.stop(at(0.5), SETTINGS, WATCH)
    assert stop is not None and stop.start == START and stop.plan.time[-1] >= PLAN.time[-1] - 0.2
    np.testing.assert_array_equal(stop.plan.effort[0], PLAN.effort[PLAN.row(0.5)])
    step = SETTINGS.rate * SETTINGS.period
    assert (np.abs(np.diff(stop.plan.effort, axis=0)) <= step * (1 + 1e-9)).all()
    machine.start(stop)
    assert machine.applies(at(0.5)) and not machine.applies(at(0.7))
    assert machine.stop(at(0.55), SETTINGS, WATCH) is None, 'it ramps to zero already'


def test_nothing_is_stopped_where_no_torque_is_left_or_the_robot_does_not_follow() -> None:
    assert made(State.IDLE).stop(at(0.5), SETTINGS, WATCH) is None
    assert made(State.RUNNING).stop(at(10.0), SETTINGS, WATCH) is None
    watch = StateWatch(width=2, timeout=0.5)
    with pytest.raises(ControlError, match='no joint state has shown the robot'):
        made(State.RUNNING).stop(at(0.5), SETTINGS, watch)


def test_a_rejected_goal_leaves_the_motion_before_it() -> None:
    machine = made(State.RUNNING)
    before = machine.execution
    machine.start(ActivePlan(PLAN, at(0.4), stamped=True))
    machine.restore()
    assert machine.execution is before


def test_torque_is_that_of_the_plan_and_zero_without_one() -> None:
    machine = made(State.RUNNING)
    applied, requested = machine.effort(at(0.5), 2)
    np.testing.assert_allclose(applied, PLAN.effort_at(0.5), rtol=1e-6)
    np.testing.assert_allclose(requested, PLAN.model_torque_at(0.5), rtol=1e-6)
    machine.leave()
    assert not np.any(machine.effort(at(0.5), 2)) and not machine.applies(at(0.5))


def test_of_too_many_trajectories_the_newest_are_kept() -> None:
    machine, all_of_them = TrajectoryState(), [arrived() for _ in range(MOST + 2)]
    dropped = [machine.arrive(each) for each in all_of_them]
    assert dropped[:MOST] == [None] * MOST and dropped[MOST:] == all_of_them[:2]
    assert machine.drop() == all_of_them[2:]
