"""What the excitation node decides before it sends a motion and while it brakes, without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.action')
from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.excitation.node import Excitation


class Bare(Excitation):
    """The node's decisions, without a node: a run that waits to be sent, and what is sent."""

    clock = 10**18

    def __init__(self):
        self.sent, self.ended, self.waiting, self.refusal = [], [], False, ''
        self._settings = SimpleNamespace(start_delay=0.0)
        self._state = SimpleNamespace(position=np.zeros(1))
        self._output = SimpleNamespace(
            streaming=False, message=str, send=lambda *_: self.sent.append('motion'),
            hold=lambda position: self.sent.append('hold'),
        )  # fmt: skip
        self._ready = SimpleNamespace(waits=lambda *_: self.waiting, check_again=self._check)
        self._run = SimpleNamespace(
            reason='', active=None, time=1.0, stopping=False, sent=False, zero=0,
            advance=lambda *_: None,
        )  # fmt: skip
        self._last_cycle = 0

    def _now(self):
        return self.clock

    def _check(self, run):
        if self.refusal:
            raise ControlError(self.refusal)

    def _finish(self, current, success, text):
        self.ended.append(text)


def test_a_motion_is_sent_only_after_the_robot_was_seen_again():
    bare = Bare()
    bare.waiting = True
    bare._on_cycle()
    assert not bare.sent and not bare.ended and not bare._run.sent
    bare.waiting = False
    bare._on_cycle()
    assert bare.sent == ['motion'] and bare._run.sent and bare._run.zero == bare.clock


@pytest.mark.parametrize('waiting', [True, False])
def test_a_motion_that_is_to_stop_is_never_sent(waiting):
    bare = Bare()
    bare.waiting, bare._run.reason = waiting, '~/stop was called'
    bare._on_cycle()
    assert not bare.sent and 'stopped before it began: ~/stop' in bare.ended[0]


def test_a_robot_that_is_refused_is_not_moved():
    bare = Bare()
    bare.refusal = 'the robot moves'
    bare._on_cycle()
    assert not bare.sent and bare.ended == ['the robot moves']


def test_a_clock_that_is_set_back_makes_the_controller_hold():
    bare = Bare()
    assert bare._advance(bare._run)
    bare.clock -= 30 * 10**9
    assert not bare._advance(bare._run)
    assert bare.sent == ['hold'] and 'the clock was set back' in bare.ended[0]


def test_a_robot_that_does_not_follow_while_it_brakes_is_held():
    bare = Bare()
    bare._run.stopping, bare._run.reason = True, '~/stop was called'
    bare._supervision = SimpleNamespace(not_following=lambda run: 'it does not follow')
    bare._watch(bare._run)
    assert bare.sent == ['hold']
    assert bare.ended[0].endswith('~/stop was called; it does not follow')


def test_an_unexpected_error_while_it_brakes_makes_the_controller_hold():
    bare = Bare()
    bare._run.reason = '~/stop was called'
    bare.on_unexpected('broken')
    assert bare.sent == ['hold'] and bare.ended[0].endswith('~/stop was called; broken')
