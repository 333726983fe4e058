import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2')

from robodyn_ros.nodes.robot import torque_watch


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(torque_watch.time, 'monotonic', lambda: now[0])
    return now


def test_what_is_beyond_the_threshold_is_named():
    watch = torque_watch.TorqueWatch(['a', 'b'], np.array([1.0, 2.0]))
    assert watch.feedback(np.array([1.0, -2.0])) == ''
    text = "the measured torque of joint 'b' is -2.1, torque_threshold is 2"
    assert watch.feedback(np.array([0.0, -2.1])) == text
    assert watch.command(np.array([1.5, 0.0])).startswith(
        "the additive torque of joint 'a' is 1.5"
    )


def test_silence_before_the_first_and_after_the_last_feedback(clock):
    watch = torque_watch.TorqueWatch(['a'], np.ones(1))
    assert 'no usable effort' in watch.silence()
    watch.feedback(np.zeros(1))
    assert watch.silence() == ''
    clock[0] += 1.01 * torque_watch.SILENCE
    assert 'no usable effort' in watch.silence()
    watch.restart()
    assert watch.silence() == ''
