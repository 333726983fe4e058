"""How fresh joint states are, and whether the robot is at rest."""

import pytest

pytest.importorskip('rclpy')
from sensor_msgs.msg import JointState

from robodyn_ros.errors import ControlError
from robodyn_ros.nodes import robot_state
from robodyn_ros.nodes.robot_state import RobotState


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(robot_state, 'time', clock)
    return clock


def fed(clock, state, speed, seconds=0.5, start=0.0):
    begin = clock.now
    while clock.now < begin + seconds:
        clock.now += 0.004
        position = [1.0, start + speed * (clock.now - begin)]
        state.read(JointState(name=['a', 'b'], position=position))


def test_fresh_or_too_old(clock):
    state = RobotState(['a', 'b'])
    with pytest.raises(ControlError, match='there are no joint states yet'):
        state.check_fresh(0.5)
    fed(clock, state, 0.0)
    clock.now += 0.4
    state.check_fresh(0.5)
    clock.now += 0.2
    with pytest.raises(ControlError, match=r'there are no joint states for 0\.6 s'):
        state.check_fresh(0.5)
    state.read(JointState(name=['a'], position=[1.0]))
    with pytest.raises(ControlError, match="refused: joint 'b' occurs 0 times"):
        state.check_fresh(0.5)


def test_rest_and_motion(clock):
    state = RobotState(['a', 'b'])
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
    state = RobotState(['a', 'b'])
    fed(clock, state, 0.0)
    clock.now += 30.0
    fed(clock, state, 0.0, seconds=0.02, start=1.0)
    with pytest.raises(ControlError, match='not known yet'):
        state.check_rest(0.02)
