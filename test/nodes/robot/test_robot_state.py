# SPDX-License-Identifier: Apache-2.0
"""Age of joint states, velocity, and the test for standstill."""

import numpy as np
import pytest
from node_process import joint_state
from sensor_msgs.msg import JointState

from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.robot.robot_state import RobotState


def fed(clock, state, speed, seconds=0.5, start=0.0):
    begin = clock[0]
    while clock[0] < begin + seconds:
        clock[0] += 0.004
        position = [1.0, start + speed * (clock[0] - begin)]
        state.read(JointState(name=['a', 'b'], position=position))


def test_fresh_or_too_old(clock):
    state = RobotState(['a', 'b'], lambda: clock[0])
    with pytest.raises(ControlError, match='there are no joint states yet'):
        state.check_fresh(0.5)
    fed(clock, state, 0.0)
    clock[0] += 0.4
    state.check_fresh(0.5)
    clock[0] += 0.2
    with pytest.raises(ControlError, match=r'there are no joint states for 0\.6 s'):
        state.check_fresh(0.5)
    state.read(JointState(name=['a'], position=[1.0]))
    with pytest.raises(ControlError, match="refused: joint 'b' occurs 0 times"):
        state.check_fresh(0.5)


def test_rest_and_motion(clock):
    state = RobotState(['a', 'b'], lambda: clock[0])
    with pytest.raises(ControlError, match='not known yet whether'):
        state.check_rest(0.02)
    assert not state.known
    fed(clock, state, 0.019)
    assert state.known
    state.check_rest(0.02)
    fed(clock, state, 0.3)
    with pytest.raises(ControlError, match=r"joint 'b' at 0\.3 per second, 0\.02 counts as rest"):
        state.check_rest(0.02)
    fed(clock, state, 0.0, start=0.15)
    state.check_rest(0.02)


def test_after_a_gap_rest_must_be_seen_again(clock):
    state = RobotState(['a', 'b'], lambda: clock[0])
    fed(clock, state, 0.0)
    clock[0] += 30.0
    fed(clock, state, 0.0, seconds=0.02, start=1.0)
    with pytest.raises(ControlError, match='not known yet'):
        state.check_rest(0.02)


def moved(clock, state, path, seconds, stamped=False):
    """Feed joint 'b' along path(time since the first sample), at 250 Hz."""
    begin = clock[0]
    while clock[0] < begin + seconds:
        clock[0] += 0.004
        message = JointState(name=['a', 'b'], position=[1.0, path(clock[0] - begin)])
        if stamped:
            message.header.stamp.sec = int(clock[0])
            message.header.stamp.nanosec = round(1e9 * (clock[0] % 1.0)) % 10**9
        state.read(message)


def test_rest_counts_from_the_last_sample_whenever_the_motion_ended(clock):
    for ended in (0.51, 0.53, 0.55, 0.57, 0.59):
        state = RobotState(['a', 'b'], lambda: clock[0])
        moved(clock, state, lambda time, last=ended: 3.0 * min(time, last), ended + 0.108)
        state.check_rest(0.02)


def test_a_robot_that_turns_back_is_not_at_rest(clock):
    """The positions before and after the turning point of a sine are the same."""
    for ended in (0.53, 0.55, 0.57):
        state = RobotState(['a', 'b'], lambda: clock[0])
        moved(clock, state, lambda time, last=ended: 5.0 * (time - last + 0.05) ** 2, ended)
        with pytest.raises(ControlError, match=r"the robot moves: joint 'b' at 0\.1[0-9]+ per s"):
            state.check_rest(0.02)


def test_rest_of_longer_than_a_moment(clock):
    state = RobotState(['a', 'b'], lambda: clock[0])
    moved(clock, state, lambda time: 3.0 * min(time, 0.5), 0.65)
    assert not state.moving(0.02)
    assert state.moving(0.02, 0.2).startswith("the robot moves: joint 'b' at 1")
    moved(clock, state, lambda time: 1.5, 0.1)
    assert not state.moving(0.02, 0.2)


def test_messages_that_come_late_in_a_heap_count_at_their_stamps(clock):
    state = RobotState(['a', 'b'], lambda: clock[0])
    moved(clock, state, lambda time: 3.0 * min(time, 0.2), 0.5, stamped=True)
    clock[0] += 0.3  # the process was held up: what came meanwhile is read now
    late = clock[0]
    heap = JointState(name=['a', 'b'], position=[1.0, 0.6])
    for count in range(60):
        stamp = late - 0.3 + 0.004 * count
        heap.header.stamp.sec, heap.header.stamp.nanosec = int(stamp), round(1e9 * (stamp % 1.0))
        state.read(heap)
    state.check_rest(0.02)
    held = JointState(name=['a', 'b'], position=[1.0, 0.6])
    held.header.stamp.sec = 5  # a clock that was set back: what was before tells nothing
    state.read(held)
    with pytest.raises(ControlError, match='not known yet'):
        state.check_rest(0.02)


def test_velocity_is_signed_and_the_position_is_that_of_now(clock):
    state = RobotState(['a', 'b'], lambda: clock[0])
    for stamp in np.arange(100.0, 100.2, 0.005):
        state.read(joint_state(['b', 'other', 'a'], stamp, [-0.5 * stamp, 9.0, 2.0 * stamp]))
        state.read(joint_state(['a', 'b'], stamp + 1.0, [np.nan, 0.0]))
    last = 2.0 * stamp, -0.5 * stamp
    for now, ahead in ((stamp - 1.0, 0.0), (stamp + 0.02, 0.02), (stamp + 5.0, 0.05)):
        position, velocity = state.motion(now)
        np.testing.assert_allclose(velocity, [2.0, -0.5], atol=1e-6)
        np.testing.assert_allclose(position, last + velocity * ahead, atol=1e-6)
    for later in np.arange(stamp + 0.005, stamp + 0.1, 0.005):
        state.read(joint_state(['a', 'b'], later, [1.0, 2.0]))
    assert (state.motion(later)[1] == 0.0).all()
