"""What the excitation node decides before it sends a motion and while it brakes, without ROS."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.action')
from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.excitation.node import Excitation


class Bare(Excitation):
    """The node's decisions, without a node: a robot at rest, and what is sent."""

    def __init__(self):
        self.sent, self.ended, self.problem = [], [], ''
        self._settings = SimpleNamespace(state_timeout=0.5, moving_threshold=0.02, start_delay=0.0)
        self._limits = SimpleNamespace(joints=('joint1',), units=('rad',))
        self._state = SimpleNamespace(position=np.zeros(1), received=0.0, known=True)
        self._output = SimpleNamespace(
            streaming=False, message=str, send=lambda *_: self.sent.append('motion'),
            hold=lambda position: self.sent.append('hold'),
        )  # fmt: skip
        self._start, self._checked, self._sent = np.zeros(1), time.monotonic(), False
        self._run = SimpleNamespace(
            reason='', active=None, time=1.0, stopping=False, advance=lambda *_: None
        )
        self._zero = self._last_cycle = 0

    def _now(self):
        return self.clock

    def _check_robot(self):
        if self.problem:
            raise ControlError(self.problem)

    def _finish(self, current, success, text):
        self.ended.append(text)

    clock = 10**18


def test_a_motion_is_sent_only_after_the_robot_was_seen_again():
    bare = Bare()
    bare._send_checked(bare._run)
    assert not bare.sent and not bare.ended, 'no joint state came since the check'
    bare._state.received = time.monotonic()
    bare._send_checked(bare._run)
    assert bare.sent == ['motion'] and bare._sent


@pytest.mark.parametrize(
    ('change', 'sentence'),
    [
        (lambda bare: bare._state.position.fill(0.1), 'moved by 0.1 rad while its motion was'),
        (lambda bare: setattr(bare, 'problem', 'the robot moves'), 'the robot moves'),
        (
            lambda bare: setattr(bare._run, 'reason', '~/stop was called'),
            'before it began: ~/stop',
        ),
    ],
)
def test_a_motion_is_not_sent_to_a_robot_that_moved_or_is_to_stop(change, sentence):
    bare = Bare()
    bare._state.received = time.monotonic()
    change(bare)
    bare._send_checked(bare._run)
    assert not bare.sent and sentence in bare.ended[0]


def test_a_clock_that_is_set_back_makes_the_controller_hold():
    bare = Bare()
    assert bare._advance(bare._run)
    bare.clock -= 30 * 10**9
    assert not bare._advance(bare._run)
    assert bare.sent == ['hold'] and 'the clock was set back' in bare.ended[0]


def test_a_robot_that_does_not_follow_while_it_brakes_is_held():
    bare = Bare()
    bare._run.stopping, bare._run.reason = True, '~/stop was called'
    bare._not_following = lambda current: "joint 'joint1' does not follow"
    bare._watch(bare._run)
    assert bare.sent == ['hold'] and "'joint1' does not follow" in bare.ended[0]
