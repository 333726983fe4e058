# SPDX-License-Identifier: Apache-2.0
"""Joint states that take the torque out of a trajectory."""

import numpy as np
import pytest
from trajectory_case import Case, check_stop

from robodyn_ros.control.feedforward.trajectory_state import State
from robodyn_ros.errors import ControlError


def fail_silent(case):
    for _ in range(4):
        case.wait(0.25)


def fail_frozen(case):
    stuck = case.wanted()
    case.follow(1.5, position=lambda _: stuck)


def fail_back(case):
    case.follow(0.02, shift=-5.0)


FAILURES = {
    'no usable new joint state for': (fail_silent, 'state_missing'),
    'the positions in joint states do not change although': (fail_frozen, 'state_frozen'),
    'the stamp of the joint states went back by': (fail_back, 'state_time_back'),
}


@pytest.mark.parametrize('text', FAILURES)
def test_a_state_that_fails_takes_the_torque_out_of_a_running_trajectory(case, text):
    fail, name = FAILURES[text]
    case.run()
    case.follow(0.6)
    assert not case.torque.machine.fault and not case.out
    fail(case)
    check_stop(case)
    assert text in case.torque.machine.fault and case.torque.machine.fault.name == name
    assert case.state is State.FAULT and not case.torque.machine.enabled
    with pytest.raises(ControlError, match='held at zero by a fault'):
        case.torque.machine.enable()
    assert text in case.torque.machine.reset()


def test_states_that_are_missing_at_rest_are_no_fault(case):
    fail_silent(case)
    case.run()
    case.follow(0.5)
    assert not case.torque.machine.fault


@pytest.mark.parametrize('velocity', [(), (0.0, 0.001)])
def test_a_robot_that_was_stopped_without_notice_is_not_sent_on(case, velocity):
    """After a violated tolerance, say; encoders of a braked robot stay the very same, too."""
    case.run()
    case.follow(0.6)
    stuck = case.wanted()
    case.follow(1.5, position=lambda _: stuck, velocity=velocity)
    assert case.torque.machine.fault and not case.out
    assert any('the torque stays until the trajectory ends' in line for line in case.node.said)


def test_a_robot_that_left_its_path_is_not_sent_back(case):
    case.run()
    case.follow(0.6)
    left = case.wanted()
    case.follow(0.8, position=lambda now: left + 0.375 * now * np.array([0.0, 1.0]))
    with pytest.raises(ControlError, match=r"ends \(disabled\): joint 'joint2' was 0\."):
        case.torque.disable()
    assert not case.out


def test_a_robot_that_never_started_is_not_sent_after_the_motion(case):
    """The trajectory was lost on the way to the controller, say."""
    case.run()
    case.follow(1.5, position=lambda _: np.zeros(2))
    assert case.torque.machine.fault.name == 'state_frozen' and not case.out
    assert case.torque.remaining > 0.0


def test_measured_torque_beyond_the_threshold_takes_the_torque_away(clock):
    case = Case(clock, limit=np.array([150.0, 80.0]))
    case.effort = [0.0, -79.0]
    case.publish(np.zeros(2))
    case.run()
    case.follow(0.3)
    assert not case.torque.machine.fault
    case.effort = [0.0, -80.5]
    case.follow(0.01)
    check_stop(case)
    assert "the measured torque of joint 'joint2' is -80.5" in case.torque.machine.fault
    case.effort = ()
    case.torque.machine.reset()
    case.torque.machine.enable()
    case.wait(0.6)
    case.run()
    assert not case.sent[4].any(), 'it replaces a running one, so it passes without torque'


def test_torque_feedback_that_stays_away_is_a_fault(clock):
    case = Case(clock, limit=np.array([150.0, 80.0]))
    case.effort = [0.0, 0.0]
    case.publish(np.zeros(2))
    case.run()
    case.follow(0.3)
    case.effort = ()
    case.follow(1.0)
    check_stop(case)
    assert case.torque.machine.fault.name == 'feedback_missing'
