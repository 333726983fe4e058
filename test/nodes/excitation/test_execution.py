# SPDX-License-Identifier: Apache-2.0
"""Decisions before a motion is sent and while the robot brakes, without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from rclpy.clock import ClockType
from robots import UR10

from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.errors import NO_FAULT, ControlError, Fault
from robodyn_ros.nodes.excitation.execution import Execution
from robodyn_ros.nodes.excitation.node import Excitation

STOP = Fault('stop_requested', '~/stop was called')


class Bare(Execution):
    """A run that waits to be sent, without a node, and the record of what is sent."""

    clock = 10**18
    _node = None

    def __init__(self):
        self.sent, self.ended, self.waiting, self.refusal = [], [], False, ''
        self.stops, self.broken = [], False
        self._supervision = SimpleNamespace(
            not_following=lambda run: NO_FAULT, waits=lambda *_: self.waiting,
            check_again=self._check,
        )  # fmt: skip
        self._settings = SimpleNamespace(start_delay=0.0)
        self._state = SimpleNamespace(position=np.zeros(1))
        self._output = SimpleNamespace(
            streaming=False, message=self._message, send=lambda *_: self.sent.append('motion'),
            hold=lambda position: self.sent.append('hold'),
        )  # fmt: skip
        self.run = SimpleNamespace(
            reason=NO_FAULT, active=None, time=1.0, stopping=False, sent=False, zero=0, offset=0.0,
            message=b'', advance=lambda *_: None, stop=self._stop,
        )  # fmt: skip
        self._last_cycle = 0

    def _stop(self, reason, moment):
        self.stops.append(moment())
        self.run.reason = reason

    def _message(self, trajectory, stop):
        if self.broken:
            raise ValueError('broken')

    def now(self):
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
    assert not bare.sent and not bare.ended and not bare.run.sent
    bare.waiting = False
    bare._on_cycle()
    assert bare.sent == ['motion'] and bare.run.sent and bare.run.zero == bare.clock


@pytest.mark.parametrize('waiting', [True, False])
def test_a_motion_that_is_to_stop_is_never_sent(waiting):
    bare = Bare()
    bare.waiting, bare.run.reason = waiting, STOP
    bare._on_cycle()
    assert not bare.sent and 'stopped before it began: ~/stop' in bare.ended[0]


def test_a_stop_is_sent_before_the_request_is_answered():
    bare = Bare()
    bare.run.sent = True
    bare.stop(STOP)
    assert bare.sent == ['motion'] and bare.stops == [pytest.approx(1e9)]
    assert not bare.ended
    bare.stop(Fault('cancelled', 'another reason'))
    assert bare.sent == ['motion'] and bare.run.reason == STOP


def test_a_stop_that_cannot_be_computed_makes_the_controller_hold():
    bare = Bare()
    bare.run.sent = bare.broken = True
    with pytest.raises(ValueError, match='broken'):
        bare.stop(STOP)
    assert bare.sent == ['hold'] and '~/stop was called; broken' in bare.ended[0]


def test_a_clock_that_is_set_back_makes_the_controller_hold():
    bare = Bare()
    assert bare._advance(bare.run)
    bare.clock -= 30 * 10**9
    assert not bare._advance(bare.run)
    assert bare.sent == ['hold'] and 'the clock was set back' in bare.ended[0]
    assert bare.ended[0].name == 'clock_set_back'


def test_an_unexpected_error_while_it_brakes_makes_the_controller_hold():
    bare = Bare()
    bare.run.reason = STOP
    checking = SimpleNamespace(cancel=lambda reason: None)
    node = SimpleNamespace(_run=bare.run, _execution=bare, _checking=checking)
    Excitation.on_unexpected(node, Fault('unexpected', 'broken'))
    assert bare.sent == ['hold'] and bare.ended[0].endswith('~/stop was called; broken')


@pytest.mark.ros
def test_no_timer_of_the_node_waits_for_a_clock_that_can_be_set_back(monkeypatch):
    for name, value in describe_domain(1).items():
        monkeypatch.setenv(name, value)
    rclpy.init(args=['--ros-args', '-p', f'urdf:={UR10}'])
    try:
        node = Excitation()
        kinds = [timer.clock.clock_type for timer in node.timers]
        node.destroy_node()
    finally:
        rclpy.shutdown()
    assert len(kinds) >= 4 and set(kinds) == {ClockType.STEADY_TIME}
