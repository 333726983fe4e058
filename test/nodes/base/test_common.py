"""Parameters, timers, diagnostics and priority of every node."""

import os
import subprocess
import sys
import threading
import time

import pytest

rclpy = pytest.importorskip('rclpy')
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from idle_nodes import idle_nodes  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from ros_client import PATIENCE  # noqa: E402

from robodyn_ros.errors import ConfigError  # noqa: E402
from robodyn_ros.nodes.base.common import (  # noqa: E402
    Diagnostics,
    apply_priority,
    declare,
    realtime_priority,
    steady_timer,
    threads,
)
from robodyn_ros.nodes.base.spinning import make_executor  # noqa: E402

pytestmark = pytest.mark.ros
TYPE = Parameter.Type


@pytest.fixture
def create():
    with idle_nodes(1, 'common') as node_with:
        yield lambda **values: node_with(values)


def test_a_word_that_yaml_takes_for_a_bool_is_to_be_quoted(create):
    with pytest.raises(ConfigError, match=r"parameter 'consistent': .*: write the word in quotes"):
        declare(create(consistent=False), 'consistent', 'auto', 'auto, yes or no')


def test_a_steady_timer_fires_without_the_clock_of_a_simulation(create):
    node = create(use_sim_time=True)
    calls = []
    steady_timer(node, 0.02, lambda: calls.append('steady'))
    node.create_timer(0.02, lambda: calls.append('by the clock'))
    executor = make_executor(node.context)
    executor.add_node(node)
    end = time.monotonic() + PATIENCE
    while len(calls) <= 10 and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.05)
    executor.shutdown()
    assert len(calls) > 10 and set(calls) == {'steady'}


def test_declared_value_and_default(create):
    node = create(rate=20.0)
    assert declare(node, 'rate', 5.0, 'rate [Hz]', minimum=1.0) == 20.0
    assert declare(node, 'count', 3, 'how many', minimum=1, maximum=9) == 3
    assert declare(node, 'gains', [1.0, 2.0], 'gains', minimum=0.0) == [1.0, 2.0]
    descriptor = node.describe_parameter('rate')
    assert descriptor.description == 'rate [Hz]'
    assert descriptor.floating_point_range[0].from_value == 1.0


@pytest.mark.parametrize(
    ('value', 'default', 'options'),
    [
        ('fast', 5.0, {}),
        (0.5, 5.0, {'minimum': 1.0}),
        (12, 3, {'minimum': 1, 'maximum': 9}),
        ([1.0, -1.0], [0.0], {'minimum': 0.0}),
        ([1.0, float('nan')], [0.0], {}),
        ([1.0, 9.5], [0.0], {'maximum': 9.0}),
        ([1.0], TYPE.STRING_ARRAY, {}),
    ],
)
def test_value_of_another_type_or_outside_its_range(create, value, default, options):
    with pytest.raises(ConfigError, match="parameter 'x'"):
        declare(create(x=value), 'x', default, 'x', **options)


def test_parameters_without_default(create):
    node = create(given=[0.5, 1.5])
    assert declare(node, 'given', TYPE.DOUBLE_ARRAY, 'x') == [0.5, 1.5]
    assert declare(node, 'array', TYPE.DOUBLE_ARRAY, 'x') == []
    assert declare(node, 'scalar', TYPE.DOUBLE, 'x') is None
    assert node.get_parameter_or('scalar', None).value is None


def test_read_only_stays(create):
    node = create()
    declare(node, 'fixed', 1.0, 'x', read_only=True)
    declare(node, 'loose', 1.0, 'x')
    answers = node.set_parameters([Parameter('fixed', value=2.0), Parameter('loose', value=2.0)])
    assert [answer.successful for answer in answers] == [False, True]


def test_diagnostics_arrive(create):
    node = create()
    rows = []
    node.create_subscription(DiagnosticArray, '/diagnostics', rows.append, 10)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    diagnostics = Diagnostics(node, 'arm')
    deadline = time.monotonic() + PATIENCE
    while not rows and time.monotonic() < deadline:
        diagnostics.publish(DiagnosticStatus.WARN, 'warm', {'temperature': 61.5})
        executor.spin_once(timeout_sec=0.05)
    executor.remove_node(node)
    (status,) = rows[0].status
    assert (status.level, status.name, status.hardware_id) == (b'\x01', 'common', 'arm')
    assert (status.message, status.values[0].value) == ('warm', '61.5')


def test_real_time_priority_is_of_the_threads_that_serve_ros():
    """As in a node process: those of the middleware have it, and none that computes."""
    code = (
        'import os, sys, threading\n'
        'import rclpy\n'
        'from pathlib import Path\n'
        'from rclpy.node import Node\n'
        'from robodyn_ros.nodes.base.common import apply_priority, realtime_priority, threads\n'
        'def kind(number): return os.sched_getscheduler(number) & ~os.SCHED_RESET_ON_FORK\n'
        'def start(): work = threading.Thread(target=end.wait); work.start(); return work\n'
        'end = threading.Event()\n'
        'before = threads()\n'
        'rclpy.init()\n'
        'node = Node("n")\n'
        'ros, early = threads() - before, start()\n'
        'realtime_priority(node, 3)\n'
        'apply_priority(node, before)\n'
        'late = start()\n'
        'print(len(ros) > 1, kind(0) == os.SCHED_FIFO,\n'
        '      {kind(number) == os.SCHED_FIFO for number in ros},\n'
        '      [kind(work.native_id) == os.SCHED_OTHER for work in (early, late)])\n'
        'end.set()\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=True
    )
    may = os.geteuid() == 0 and 'without real-time priority' not in done.stderr + done.stdout
    assert done.stdout.splitlines()[-1] == f'True {may} {{{may}}} [True, True]'


def test_threads_that_were_there_before_ros_keep_their_priority(create):
    node = create(thread_priority=3)
    realtime_priority(node, 0)
    was = {number: os.sched_getscheduler(number) for number in threads()}
    try:
        apply_priority(node, threads() - {threading.get_native_id()})
        changed = [number for number, kind in was.items() if os.sched_getscheduler(number) != kind]
        assert set(changed) <= {threading.get_native_id()}
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
