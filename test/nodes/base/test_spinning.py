# SPDX-License-Identifier: Apache-2.0
"""Spinning until a signal, and the clean end of a node's process."""

import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from ros_client import PATIENCE, RosClient, environment

from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.spinning import _create, _StopRequest

pytestmark = pytest.mark.ros


@pytest.fixture(autouse=True)
def apart(monkeypatch):
    """Keep the nodes away from those of other tests."""
    for name, value in describe_domain(1).items():
        monkeypatch.setenv(name, value)


PROGRAM = """
import sys, time
from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.suite_node import SuiteNode

class Slow(SuiteNode):
    def __init__(self):
        super().__init__('slow')
        self.left = None
        self.told = False
        self.create_timer(0.01, self.tick)
    def tick(self):
        if not self.told:
            self.told = True
            print('ready', flush=True)
        if self.left:
            self.left -= 1
    def begin_shutdown(self):
        self.left = 10
    def shutdown_done(self):
        if not self.left:
            print('safe', flush=True)
        return not self.left

class Bad(SuiteNode):
    def __init__(self):
        raise ConfigError('the sentence')

class Half(SuiteNode):
    def __init__(self):
        super().__init__('half')
        self.create_timer(1.0, print)
        raise {'2': ConfigError, '1': ValueError}[sys.stdin.readline().strip()]('the sentence')

sys.exit(run({'slow': Slow, 'bad': Bad, 'half': Half}[sys.argv.pop(1)]))
"""


def program(kind, *arguments):
    return subprocess.Popen(
        [sys.executable, '-c', PROGRAM, kind, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_lets_a_node_reach_its_safe_end(number):
    process = program('slow')
    assert process.stdout.readline() == 'ready\n'
    process.send_signal(number)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert out == 'safe\n'


@pytest.fixture
def handlers():
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_a_signal_wakes_who_spins_at_once_and_never_who_is_gone(handlers):
    """The time-out of a trip through the executor is long: each leaves some bytes behind."""
    stop, woken = _StopRequest(), []
    stop.add_done_callback(woken.append)
    assert not stop.done()
    signal.raise_signal(signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE  # a thread does it: the executor keeps this one
    while not woken and time.monotonic() < deadline:
        time.sleep(0.001)
    assert woken == [stop] and stop.done() and stop.requested
    stop.remove_done_callback(woken.append)
    signal.raise_signal(signal.SIGINT)
    assert woken == [stop]


WAITS = """
import signal, sys, time, rclpy
from rclpy.executors import SingleThreadedExecutor
from robodyn_ros.nodes.base.spinning import _StopRequest, make_executor
rclpy.init()
node, stop = rclpy.create_node('n'), _StopRequest()
executor = {'events': make_executor, 'waits': SingleThreadedExecutor}[sys.argv[1]]()
timer = node.create_timer(0.05, lambda: signal.raise_signal(signal.SIGINT))
executor.add_node(node)
begin = time.monotonic()
while not stop.requested and time.monotonic() < begin + 30.0:
    executor.spin_until_future_complete(stop, timeout_sec=10.0)
print(stop.requested and time.monotonic() - begin < 9.0, flush=True)
"""


@pytest.mark.real_time
@pytest.mark.parametrize('kind', ['events', 'waits'])
def test_an_executor_that_waits_for_a_signal_ends_with_it(kind):
    """In a process of its own: the events executor (rclpy 7.1) may hang where it ends."""
    with subprocess.Popen([sys.executable, '-c', WAITS, kind], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b'True\n'
        finally:
            process.kill()


@pytest.mark.real_time
@pytest.mark.parametrize('code', [1, 2])
def test_a_node_that_is_refused_while_it_is_created_leaves_the_graph(code):
    client = RosClient(environment(1))
    process = program('half')
    try:
        there = client.node.get_node_names
        client.wait(lambda: 'half' in there(), 'the node')
        _, errors = process.communicate(f'{code}\n', timeout=PATIENCE)
        assert process.returncode == code and 'the sentence' in errors
        client.wait(lambda: 'half' not in there(), 'the node to leave the graph', 10.0)
    finally:
        process.kill()
        client.close()


def test_a_node_with_unknown_parameters_comes_to_rest_before_it_ends():
    """With autostart it is active already."""
    calls = []

    def check_names():
        raise ConfigError('no such parameter')

    node = SimpleNamespace(check_names=check_names, begin_shutdown=lambda: calls.append('rest'))
    with pytest.raises(ConfigError, match='no such parameter'):
        _create(lambda: node)
    assert calls == ['rest']


def test_node_that_cannot_be_created_says_one_sentence():
    out, errors = program('bad').communicate(timeout=PATIENCE)
    assert (out, errors) == ('', 'error: the sentence\n')


def test_arguments_that_ros_does_not_take_start_nothing():
    process = program('slow', '--robot', 'mine', '--ros-args')
    out, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, '')
    assert errors.startswith('error: --robot mine cannot')
    assert '--ros-args -p robot:=NAME' in errors


def test_help_says_how_to_give_parameters():
    process = program('slow', '--help')
    out, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, '') and out.startswith('usage: ')
