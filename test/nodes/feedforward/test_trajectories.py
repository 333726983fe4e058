# SPDX-License-Identifier: Apache-2.0
"""Trajectories with torque without DDS: what arrives meanwhile, and what takes the torque away."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from fake_node import FakeNode
from feedforward_client import LIMIT, MODEL, NAMES, STEP, VALUES, arrays, message, ramped_out
from lifecycle_msgs.msg import State as Lifecycle
from lifecycle_msgs.msg import TransitionEvent
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.bounds import MIXED_POINTS, BoundError
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.trajectory_effort import TrajectoryPlanner
from robodyn_ros.control.feedforward.trajectory_state import State
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.errors import ControlError, Fault, MotionError
from robodyn_ros.nodes.base.clock import LOOK
from robodyn_ros.nodes.feedforward.follow_goals import FollowGoals
from robodyn_ros.nodes.feedforward.law import Law
from robodyn_ros.nodes.feedforward.trajectories import STEP as PLANNING
from robodyn_ros.nodes.feedforward.trajectories import Trajectories
from robodyn_ros.nodes.robot.controller_facts import PATIENCE

EFFORT = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included'}
JTC = 'joint_trajectory_controller'
TIMEOUT = 0.5


class Case:
    """Trajectories in and out, a robot that follows them, and time that passes when told to."""

    def __init__(self, clock, *, limit=None, step=STEP):
        self.clock, self.node = clock, FakeNode()
        self.torque = Trajectories(self.node)
        settings = FeedforwardSettings(
            joints=NAMES, max_torque=LIMIT, max_torque_rate=step / 0.002, ramp_up_time=0.1
        )
        threshold = TorqueThreshold(NAMES, limit, lambda: clock[0])
        planner = TrajectoryPlanner(ModelTorque(MODEL, VALUES), settings, threshold)
        effort = EffortDeclaration.from_mapping(EFFORT).for_joints(MODEL.joints)
        self.torque.use(Law(planner, effort, StateWatch(width=2, timeout=TIMEOUT)), 3)
        self.torque.begin(True)
        self.effort = ()

    @property
    def out(self):
        """Trajectories at the controller."""
        rows = self.node.published[f'{JTC}/joint_trajectory']
        return [deserialize_message(row, JointTrajectory) for row in rows]

    @property
    def efforts(self):
        return [arrays(each)[4] for each in self.out]

    @property
    def state(self):
        return self.torque.state

    def arrive(self, duration=1.0, **options):
        self.node.deliver('~/joint_trajectory', serialize_message(
            message(duration=duration, **options)
        ))  # fmt: skip

    def plan(self):
        """Let all steps of planning pass."""
        for _ in range(1000):
            self.node.timers[PLANNING]()

    def run(self, duration=10.0, **options):
        """Let the controller execute a trajectory that starts now."""
        self.arrive(duration, stamp=self.node.nanoseconds, **options)
        self.plan()
        self.sent = arrays(self.out[-1])
        self.begin = self.clock[0]
        self.node.published[f'{JTC}/joint_trajectory'].clear()

    def wanted(self):
        at, position, *_ = self.sent
        now = self.clock[0] - self.begin
        return np.array([np.interp(now, at, column) for column in position.T])

    def publish(self, position=None, velocity=(0.2, -0.3), shift=0.0, repeat=False):
        """Publish the joint state of a robot that is there, or on its way."""
        state = JointState(name=NAMES, velocity=velocity, effort=self.effort)
        state.position = (self.wanted() if position is None else position).tolist()
        now = self.node.nanoseconds + round(1e9 * shift)
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(now, 10**9)
        self.node.deliver('joint_states', serialize_message(state))

    def follow(self, seconds, position=None, **options):
        """Let time pass with a joint state every 10 ms; `position`: of the time from now on."""
        for count in range(round(seconds / 0.01)):
            self.wait(0.01)
            self.publish(position and position(0.01 * count), **options)

    def wait(self, seconds):
        self.clock[0] += seconds
        self.node.timers[0.25]()


@pytest.fixture
def case(clock):
    return Case(clock)


def check_stop(case):
    """Return the remainder that was sent: the motion goes on, its torque ramps to zero."""
    (stop,) = case.out
    at, position, _, _, effort = arrays(stop)
    assert ramped_out(stop) and at[-1] >= case.sent[0][-1] - 0.2
    assert (np.abs(effort) <= LIMIT).all()
    assert (np.abs(np.diff(effort, axis=0)) <= STEP * (1 + 1e-9)).all()
    path = [np.interp(at[0], case.sent[0], column) for column in case.sent[1].T]
    np.testing.assert_allclose(position[0], path, atol=1e-3)


# Planning


def test_a_trajectory_is_sent_when_all_messages_before_it_were_read(case):
    case.arrive()
    assert not case.out and case.state is State.PLANNING
    case.plan()
    (effort,) = case.efforts
    assert np.abs(effort).max() > 1.0 and case.state is State.RUNNING
    assert (np.abs(effort) <= LIMIT).all() and not effort[-1].any()
    assert (np.abs(np.diff(effort, axis=0, prepend=[[0, 0]])) <= STEP * (1 + 1e-9)).all()
    case.wait(2.0)
    assert case.state is State.IDLE


def test_it_is_refused_when_the_controller_was_commanded_otherwise_meanwhile(case):
    case.arrive()
    case.torque._on_left('a goal')
    case.plan()
    assert not case.out and case.state is State.IDLE
    assert case.torque.refusal == 'trajectory refused: while it was planned, a goal'
    case.arrive()
    case.plan()
    assert len(case.out) == 1 and case.torque.refused == 1


def test_trajectories_that_arrive_together_are_sent_in_their_order(case):
    for duration in (1.0, 2.0, 3.0):
        case.arrive(duration)
    case.plan()
    lengths = [len(effort) for effort in case.efforts]
    assert len(lengths) == 3 and lengths == sorted(lengths)


def test_one_without_points_is_sent_now_and_those_that_wait_are_not(case):
    for duration in (600.0, 1.0):
        case.arrive(duration)
    case.node.timers[PLANNING]()
    stop = JointTrajectory(joint_names=NAMES)
    case.node.deliver('~/joint_trajectory', serialize_message(stop))
    assert case.out == [stop] and case.torque.refused == 2
    assert 'without points, which stops the robot, came after it' in case.torque.refusal
    case.plan()
    assert len(case.out) == 1 and case.state is State.IDLE


def test_changes_while_it_is_planned_count(case):
    case.arrive(8.0)
    case.plan()
    case.torque._on_left('a goal')
    case.arrive(8.0)
    case.node.timers[PLANNING]()
    case.torque.set_values(0.5 * VALUES)
    case.plan()
    full, half = (np.abs(effort).max() for effort in case.efforts)
    assert half == pytest.approx(0.5 * full, rel=0.05)


@pytest.mark.parametrize('event', ['disable', 'trip'])
def test_torque_that_is_removed_while_it_is_planned_leaves_the_motion(case, event):
    case.arrive(8.0)
    case.node.timers[PLANNING]()
    case.torque.disable() if event == 'disable' else case.torque.trip(Fault('unexpected', 'x'))
    case.plan()
    (effort,) = case.efforts
    assert not effort.any() and not case.torque.refused


def test_it_starts_from_the_torque_at_the_moment_of_sending(clock):
    step = 0.2 * STEP
    case = Case(clock, step=step)
    case.run(1.0)

    def present():
        return case.torque.machine.effort(case.node.nanoseconds, 2)[0]

    case.clock[0] += 0.25
    before = present()
    case.arrive(2.0)
    case.node.timers[PLANNING]()
    case.clock[0] += 0.25
    now = present()
    assert (np.abs(now - before) > 2.0 * step).any(), 'else it would start well anyway'
    case.plan()
    (effort,) = case.efforts
    assert (np.abs(np.diff(effort, axis=0, prepend=[now])) <= step * (1 + 1e-9)).all()
    assert (np.abs(effort) <= LIMIT).all() and not effort[-1].any()


def test_a_rejected_goal_brings_no_motion_back_that_the_controller_has_left(case):
    case.run()
    case.run()
    case.torque._on_left('a goal')
    case.torque.restore()
    assert case.state is State.IDLE and not case.torque.remaining > 0.0


def test_a_node_that_ends_refuses_what_is_planned(case):
    case.arrive()
    case.torque.finish()
    case.plan()
    assert not case.out and case.torque.refusal == 'trajectory refused: the node stops'


def test_an_error_of_the_model_ends_this_trajectory_alone(case, monkeypatch):
    case.arrive()
    model = case.torque._law.planner.torque
    with monkeypatch.context() as patch:
        patch.setattr(model, 'body', lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):  # the node takes the torque away: on_unexpected
            case.plan()
    case.plan()
    assert not case.out and case.state is State.IDLE
    case.arrive()
    case.plan()
    assert len(case.out) == 1


# Other commands for the controller


def other_trajectory(case):
    case.node.deliver(f'{JTC}/joint_trajectory', serialize_message(message(duration=2.0)))


def publish_goals(case, *numbers, status=GoalStatus.STATUS_EXECUTING):
    array = GoalStatusArray()
    for number in numbers:
        item = GoalStatus(status=status)
        item.goal_info.goal_id.uuid = np.full(16, number, np.uint8)
        array.status_list.append(item)
    case.node.deliver(f'{JTC}/follow_joint_trajectory/_action/status', array)


def transition(goal, case, start=Lifecycle.PRIMARY_STATE_ACTIVE):
    event = TransitionEvent(start_state=Lifecycle(id=start), goal_state=Lifecycle(id=goal))
    case.node.deliver(f'{JTC}/transition_event', event)


OTHERS = {
    'a trajectory came from another node': other_trajectory,
    'has a goal': lambda case: publish_goals(case, 1, 2),
    'was stopped': lambda case: publish_goals(case, 1, status=GoalStatus.STATUS_CANCELING),
    'was deactivated': partial(transition, Lifecycle.PRIMARY_STATE_INACTIVE),
}


@pytest.mark.parametrize('text', OTHERS)
def test_a_controller_that_was_commanded_otherwise_is_not_sent_the_remainder(case, text):
    publish_goals(case, 1)  # from before: it goes on, beside our trajectory
    case.run()
    case.follow(0.3)
    OTHERS[text](case)
    assert case.state is State.IDLE and not case.torque.remaining > 0.0, case.torque.machine.fault
    assert any(text in line for line in case.node.said)
    case.follow(1.0, position=lambda _: np.array([0.3, -0.4]))
    case.torque.disable()
    assert not case.out, 'a robot that was stopped must not start to move'


def test_goals_of_before_and_goals_that_end_leave_the_trajectory_alone(case):
    publish_goals(case, 5, 6)
    case.run()
    publish_goals(case, 6)
    publish_goals(case, 6, status=GoalStatus.STATUS_SUCCEEDED)
    case.follow(0.3)
    case.torque.disable()
    check_stop(case)


@pytest.mark.parametrize(
    ('start', 'goal', 'left'),
    [
        (Lifecycle.PRIMARY_STATE_ACTIVE, Lifecycle.TRANSITION_STATE_ERRORPROCESSING, True),
        (Lifecycle.TRANSITION_STATE_CONFIGURING, Lifecycle.PRIMARY_STATE_INACTIVE, False),
        (Lifecycle.PRIMARY_STATE_INACTIVE, Lifecycle.TRANSITION_STATE_ACTIVATING, False),
    ],
)
def test_a_controller_that_is_being_activated_has_not_left_anything(case, start, goal, left):
    case.arrive()
    transition(goal, case, start)
    assert case.torque.refused == left


def test_a_message_that_is_read_before_the_own_one_came_back_is_older(case):
    echo = case.node.subscribers.pop(f'{JTC}/joint_trajectory')
    case.run()
    echo(serialize_message(message(duration=2.0)))
    assert case.state is State.RUNNING
    case.follow(0.6)  # it was lost
    echo(serialize_message(message(duration=2.0)))
    assert case.state is State.IDLE


# Joint states


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


# Inactive


def test_inactive_it_passes_trajectories_without_effort(case):
    """The one that is lost could be the one that stops the robot."""
    case.torque.finish()
    wanted = message()
    given = message()
    for point in given.points:
        point.effort = [30.0, float('nan')]
    mixed = message()
    mixed.points[3].effort = [1.0, 2.0]
    for trajectory in (wanted, given, mixed):
        case.node.deliver('~/joint_trajectory', serialize_message(trajectory))
    empty = JointTrajectory(joint_names=NAMES)
    empty.header.stamp.sec = -1  # ends the process of a joint_trajectory_controller
    case.node.deliver('~/joint_trajectory', serialize_message(empty))
    assert case.out == [wanted] * 3 + [JointTrajectory(joint_names=NAMES)]


def test_inactive_it_refuses_what_no_controller_can_read(case):
    case.torque.finish()
    mixed, wrong = message(points=MIXED_POINTS.most + 1, duration=10.0), message()
    mixed.points[3].effort = [1.0, 2.0]
    wrong.header.stamp.sec = -1
    for bad, error in ((mixed, BoundError), (wrong, MotionError)):
        with pytest.raises(error):
            case.node.deliver('~/joint_trajectory', serialize_message(bad))
    with pytest.raises(MotionError):
        case.node.deliver('~/joint_trajectory', serialize_message(wrong)[:50])
    assert not case.out


def test_a_controller_that_listens_best_effort_gets_points_that_arrive(case):
    """As the joint_trajectory_controller does; a message of more than 0.5 MB may not arrive."""
    for case.node.reliability in (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT):
        case.arrive(20.0)
        case.plan()
        case.torque._on_left('a goal')
    whole, few = case.out
    assert len(serialize_message(whole)) > 1e6 and 0.3e6 < len(serialize_message(few)) < 0.5e6
    at, q, *_ = arrays(few)
    np.testing.assert_allclose(np.diff(at), 3 * 0.002, rtol=1e-6)
    np.testing.assert_allclose(q, arrays(whole)[1][::3][: len(q)], atol=1e-12)
    assert any('one every 6 ms is sent' in line for line in case.node.said)


@pytest.mark.parametrize('paused', [False, True])
def test_goals_of_a_node_that_stops_are_cancelled_after_the_ramp_of_the_torque(case, paused):
    """The action itself needs control_msgs: test_follow_goals.py."""
    events = []
    if paused:
        case.node.simulated_clock = SimpleNamespace(elapsed=0.0)
    goal = SimpleNamespace(cancel=lambda: events.append('cancel'), fail=events.append)
    goals = object.__new__(FollowGoals)
    goals.node, goals.goals = case.node, [goal]
    goals.stop(0.12)
    for wait in (0.1, PATIENCE if paused else 0.05):
        assert not events
        case.clock[0] += wait
        case.node.timers[LOOK]()
    assert events == ['cancel', 'the feed-forward was deactivated, so the goal was cancelled']
