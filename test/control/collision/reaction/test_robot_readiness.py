# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from robodyn_ros.control.collision.reaction.robot_readiness import ReportedState, RobotReadiness


def test_a_robot_that_tells_nothing_counts_as_ready() -> None:
    assert not RobotReadiness([]).problem(0.0)


def test_unknown_until_the_first_value_and_after_the_timeout() -> None:
    state = ReportedState('mode of status', ['7'], 0.5)
    robot = RobotReadiness([state])
    assert robot.problem(0.0).name == 'robot_unknown'
    state.receive(['7'], 1.0)
    assert not robot.problem(1.5)
    stale = robot.problem(1.6)
    assert stale.name == 'robot_unknown' and '0.60 s (limit 0.5 s)' in stale
    state.receive(['7'], 1.7)
    assert not robot.problem(1.7), 'staleness is not a stop: nothing to release'


def test_a_value_without_timeout_holds_until_its_publisher_has_gone() -> None:
    state = ReportedState('mode of status', ['7'], 0.0)
    robot = RobotReadiness([state])
    state.receive(['7'], 1.0)
    assert not robot.problem(1e6)
    state.forget('has no publisher')
    assert 'has no publisher' in robot.problem(1e6)


def test_a_stop_of_a_ready_robot_is_latched_until_it_is_released() -> None:
    state = ReportedState('mode of safety', ['1', '2'], 0.0)
    robot = RobotReadiness([state])
    state.receive(['3'], 0.0)
    assert robot.problem(0.0) == 'the robot itself stopped: mode of safety is 3, ready is 1 or 2'
    state.receive(['2'], 1.0)
    assert not robot.problem(1.0), 'it was never ready before: it was switched on'
    state.receive(['3'], 2.0)
    assert robot.problem(2.0).name == 'robot_stopped' and robot.latched
    assert 'still reports its stop' in robot.release(2.0)
    state.receive(['1'], 3.0)
    held = robot.problem(3.0)
    assert held.name == 'robot_stopped' and 'is 3' in held and '~/reset' in held
    assert robot.release(3.0) == '' and not robot.problem(3.0) and not robot.latched


def test_a_latched_stop_is_not_released_while_the_state_is_unknown() -> None:
    state = ReportedState('mode of safety', ['1'], 0.5)
    robot = RobotReadiness([state])
    for value in ('1', '3'):
        state.receive([value], 0.0)
        robot.problem(0.0)
    state.receive(['1'], 1.0)
    assert robot.release(2.0) and robot.latched


def test_all_drives_and_all_topics_must_be_ready() -> None:
    drives, safety = ReportedState('drives', ['on'], 0.0), ReportedState('safety', ['1'], 0.0)
    robot = RobotReadiness([drives, safety])
    drives.receive(['on', 'on'], 0.0)
    assert robot.problem(0.0).name == 'robot_unknown'
    safety.receive(['1'], 0.0)
    assert not robot.problem(0.0)
    drives.receive(['on', 'off'], 1.0)
    assert 'drives is off' in robot.problem(1.0)
    drives.receive([], 1.0)
    assert robot.problem(2.0).name == 'robot_unknown', 'no drives is not all drives'


def test_a_stop_is_named_before_what_is_unknown() -> None:
    first, second = ReportedState('first', ['1'], 0.0), ReportedState('second', ['1'], 0.0)
    second.receive(['2'], 0.0)
    assert RobotReadiness([first, second]).problem(0.0).name == 'robot_stopped'
