# SPDX-License-Identifier: Apache-2.0
"""A controller that was told something past the feed-forward must not be sent on its old way."""

import time

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from feedforward_client import NAMES, Trajectories, arrays, message, ramped_out
from lifecycle_msgs.msg import State, TransitionEvent
from node_process import closed, joint_state
from rclpy.qos import qos_profile_action_status_default
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros
JTC = 'joint_trajectory_controller'
TIMEOUT = 2.0
"""Joint states may stay away for so long, in [s]: they come from a test, which may be held up."""
COARSE = 0.01
"""Period, in [s]: while a test takes long trajectories in, the node hears no joint states."""
"""Points of ramp_down_time."""
OVER = 'the trajectory that was sent last, and its torque, is over: '


class Controller(Trajectories):
    """The node, and whatever a controller and those who command it would say."""

    def __init__(self, folder):
        super().__init__(folder, 57, state_timeout=TIMEOUT, period=COARSE)
        self.others = self.process.publisher(JointTrajectory, f'{JTC}/joint_trajectory')
        self.goals = self.process.publisher(
            GoalStatusArray,
            f'{JTC}/follow_joint_trajectory/_action/status',
            qos_profile_action_status_default,
        )
        self.events = self.process.publisher(TransitionEvent, f'{JTC}/transition_event')

    def run(self, seconds=0.3, position=None):
        """Begin a trajectory with torque, and follow it so long, to a position or its own."""
        self.ready()
        self.stamp = time.time_ns()
        sent = self.sent(message(stamp=self.stamp, duration=15.0))
        self.at, self.position, *_, effort = arrays(sent)
        assert effort.any()
        self.out.clear()
        self.follow(seconds, position)

    def wanted(self, now=None):
        """Return the position of the trajectory at `now`, a time of the clock in [s]."""
        at = (now or time.time()) - 1e-9 * self.stamp
        return np.array([np.interp(at, self.at, each) for each in self.position.T])

    def follow(self, seconds, position=None, velocity=()):
        """Joint states of so long, some of them at least, and all of them heard."""
        end, count = time.monotonic() + seconds, 0
        while time.monotonic() < end or count < 20:
            self.tell(position, velocity)
            self.process.spin(0.01)
            count += 1
        self.process.settle()

    def tell(self, position=None, velocity=()):
        """Publish a joint state of a robot that is there, or on its way."""
        self.process.check()
        now = time.time()
        q = self.wanted(now) if position is None else position()
        self.joint_states.publish(joint_state(NAMES, now, q, velocity))

    def stand_until_fault(self, position, velocity=()):
        """Joint states of a robot that stays where it is, until the node takes that for a fault.

        :return: the answer to a reset: which fault it was
        """
        deadline = time.monotonic() + 20.0
        while not (self.states and self.states[-1].fault) and time.monotonic() < deadline:
            self.tell(position, velocity)
            self.process.spin(0.01)
        self.complaint = self.process.status().message
        return self.process.reset().message

    def goal(self, *numbers, status=GoalStatus.STATUS_EXECUTING):
        array = GoalStatusArray()
        for number in numbers:
            item = GoalStatus(status=status)
            item.goal_info.goal_id.uuid = np.full(16, number, np.uint8)
            array.status_list.append(item)
        self.goals.publish(array)

    def told(self, text):
        count = self.process.said().count(OVER + text)
        return lambda: self.process.said().count(OVER + text) > count


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    with closed(Controller(tmp_path_factory.mktemp('controller'))) as cell:
        yield cell


def another_trajectory(cell):
    cell.others.publish(message(duration=2.0))


def a_goal(cell):
    cell.goal(1, 2)


def a_cancel_of_the_goal_from_before(cell):
    cell.goal(1, status=GoalStatus.STATUS_CANCELING)


def a_deactivation(cell):
    event = TransitionEvent()
    event.goal_state.id, event.goal_state.label = State.PRIMARY_STATE_INACTIVE, 'inactive'
    cell.events.publish(event)


TOLD = {
    another_trajectory: 'a trajectory came from another node',
    a_goal: f'the action of /{JTC} has a goal',
    a_cancel_of_the_goal_from_before: f'a goal of the action of /{JTC} was stopped',
    a_deactivation: f'/{JTC} was deactivated (inactive)',
}


@pytest.mark.parametrize('past', TOLD)
def test_a_controller_that_was_told_something_else_is_not_sent_the_rest(cell, past):
    cell.goal(1)  # from before: it goes on, beside our trajectory
    cell.process.settle()
    cell.run()
    told = cell.told(TOLD[past])
    past(cell)
    cell.process.wait(told, 'the notice')
    cell.out.clear()
    cell.follow(1.5 * TIMEOUT, position=lambda: np.array([0.3, -0.4]))  # frozen, if it still ran
    assert cell.process.enable(False).message == 'disabled'
    cell.process.settle()
    own = [each for each in cell.out if each.points[0].effort]
    assert not own, 'a robot that was stopped must not begin to move'


def test_goals_of_before_and_goals_that_end_leave_the_trajectory_alone(cell):
    cell.goal(5, 6)
    cell.process.settle()
    cell.run()
    cell.goal(6)
    cell.goal(6, status=GoalStatus.STATUS_SUCCEEDED)
    cell.process.settle()
    cell.follow(0.1)
    assert cell.process.enable(False).success
    cell.process.wait(lambda: cell.out, 'the rest')
    assert ramped_out(cell.out[-1])


FROZEN = 'do not change although the reference moves'


def test_states_that_freeze_on_the_way_take_the_torque_out_of_a_running_motion(cell):
    cell.run(0.6)
    stuck = cell.wanted()
    fault = cell.stand_until_fault(lambda: stuck, velocity=[0.2, -0.3])
    cell.process.wait(lambda: cell.out, 'the rest')
    at, position, *_ = arrays(cell.out[-1])
    np.testing.assert_allclose(
        position[0], [np.interp(at[0], cell.at, q) for q in cell.position.T]
    )
    assert ramped_out(cell.out[-1])
    assert FROZEN in fault


@pytest.mark.parametrize('velocity', [(), (0.0, 0.001)])
def test_a_robot_that_was_stopped_without_a_word_is_not_sent_on(cell, velocity):
    """After a violated tolerance, say; encoders of a braked robot stay the very same, too."""
    cell.run(0.6)
    stuck = cell.wanted()
    assert FROZEN in cell.stand_until_fault(lambda: stuck, velocity)
    cell.process.settle()
    assert not cell.out, 'a robot that was stopped must not begin to move'


def test_a_robot_that_left_its_way_is_not_sent_back_and_the_service_says_so(cell):
    cell.run(0.6)
    drift = iter(np.linspace(0.0, 0.3, 1000))
    left = cell.wanted()
    cell.follow(0.8, position=lambda: left + next(drift) * np.array([0.0, 1.0]))
    answer = cell.process.enable(False)
    assert not answer.success
    assert 'the torque stays until the trajectory ends (disabled)' in answer.message
    assert "joint 'joint2' was 0." in answer.message
    cell.process.settle()
    assert not cell.out


def test_a_robot_that_never_began_is_not_sent_after_the_motion(cell):
    """The trajectory was lost on the way to the controller, say."""
    cell.run(position=lambda: np.zeros(2))
    assert FROZEN in cell.stand_until_fault(lambda: np.zeros(2))
    assert "although the reference moves): joint 'joint2' was 0." in cell.process.said()
    assert 'torque is still applied: ' in cell.complaint
    cell.process.settle()
    assert not cell.out
