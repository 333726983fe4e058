# SPDX-License-Identifier: Apache-2.0
"""Parameters, timers, diagnostics and priority of every node."""

import contextlib
import os
import subprocess
import sys
import threading

import pytest
from idle_nodes import idle_nodes
from rclpy.parameter import Parameter

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.common import (
    Diagnostics,
    check_when_set,
    declare,
    urgent,
)

pytestmark = pytest.mark.ros
TYPE = Parameter.Type


@pytest.fixture
def create():
    with idle_nodes(1, 'common') as node_with:
        yield lambda **values: node_with(values)


def test_a_value_of_another_type_comes_with_what_helps(create):
    with pytest.raises(ConfigError, match=r"parameter 'consistent': .*: write the word in quotes"):
        declare(create(consistent=False), 'consistent', 'auto', 'auto, yes or no')
    with pytest.raises(ConfigError, match=r"parameter 'scale': .*with a decimal point, as 20\.0"):
        declare(create(scale=20), 'scale', 1.0, 'share')


def test_declared_value_and_default(create):
    node = create(rate=20.0)
    assert declare(node, 'rate', 5.0, 'rate [Hz]', minimum=1.0) == 20.0
    assert declare(node, 'count', 3, 'how many', minimum=1, maximum=9) == 3
    assert declare(node, 'gains', [1.0, 2.0], 'gains', minimum=0.0) == [1.0, 2.0]
    descriptor = node.describe_parameter('rate')
    assert descriptor.description == 'rate [Hz]'
    assert descriptor.floating_point_range[0].from_value == 1.0
    assert declare(node, 'array', TYPE.DOUBLE_ARRAY, 'x') == []
    assert declare(node, 'scalar', TYPE.DOUBLE, 'x') is None


@pytest.mark.parametrize(
    ('value', 'default', 'options'),
    [
        ('fast', 5.0, {}),
        (0.5, 5.0, {'minimum': 1.0}),
        (12, 3, {'minimum': 1, 'maximum': 9}),
        ([1.0, -1.0], [0.0], {'minimum': 0.0}),
        ([1.0, float('nan')], [0.0], {}),
        ([1.0], TYPE.STRING_ARRAY, {}),
    ],
)
def test_value_of_another_type_or_outside_its_range(create, value, default, options):
    with pytest.raises(ConfigError, match="parameter 'x'"):
        declare(create(x=value), 'x', default, 'x', **options)


@pytest.mark.parametrize('default', [[0.0], TYPE.DOUBLE_ARRAY])
def test_elements_of_an_array_are_checked_when_they_are_set(create, default):
    node = create()
    declare(node, 'other', [0.0], 'not to be confused')
    declare(node, 'x', default, 'x', minimum=0.0, maximum=9.0)
    reasons = {
        value: node.set_parameters([Parameter('x', value=[1.0, value])])[0].reason
        for value in (9.0, -1.0, 9.5, float('nan'))
    }
    assert list(reasons.values()) == [
        '',
        "parameter 'x': element 1 is -1.0, below 0.0",
        "parameter 'x': element 1 is 9.5, above 9.0",
        "parameter 'x': element 1 is nan, not a number",
    ]
    assert list(node.get_parameter('x').value) == [1.0, 9.0]
    assert node.set_parameters([Parameter('x', TYPE.DOUBLE_ARRAY, [])])[0].successful
    assert node.set_parameters([Parameter('other', value=[-1.0])])[0].successful


def test_what_a_check_refuses_keeps_its_value(create):
    node = create()
    declare(node, 'x', 1.0, 'x')
    declare(node, 'names', ['a'], 'names')
    seen = []

    def check(new):
        seen.append(new)
        if new.get('x') == 2.0:
            raise ConfigError('two is\ntoo much')

    check_when_set(node, check)
    answers = node.set_parameters([Parameter('x', value=2.0), Parameter('names', value=['b'])])
    assert [(answer.successful, answer.reason) for answer in answers] == [
        (False, 'two is too much'), (True, ''),
    ]  # fmt: skip
    assert seen == [{'x': 2.0}, {'names': ['b']}] and node.get_parameter('x').value == 1.0


def test_a_change_of_the_level_is_logged_once(create, capfd):
    diagnostics = Diagnostics(create(), 'arm')
    for level, message in (
        (b'\0', 'active'),
        (b'\0', 'still'),
        (b'\3', 'silent'),
        (b'\0', 'back'),
    ):
        diagnostics.publish(level, message, {})
    said = ''.join(capfd.readouterr())
    assert [said.count(word) for word in ('active', 'still', 'silent', 'back')] == [1, 0, 1, 1]


def test_real_time_priority_is_of_the_spinning_thread_alone():
    """As in a node process: the thread that asks gets it, threads it starts do not."""
    code = (
        'import os, sys, threading\n'
        'import rclpy\n'
        'from rclpy.node import Node\n'
        'from robodyn_ros.nodes.base.common import realtime_priority\n'
        'rclpy.init()\n'
        'node = Node("n")\n'
        'realtime_priority(node, 3)\n'
        'found = []\n'
        'work = threading.Thread(target=lambda: found.append(os.sched_getscheduler(0)))\n'
        'work.start(); work.join()\n'
        'mine = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK\n'
        'print(mine == os.SCHED_FIFO, found[0] == os.SCHED_OTHER)\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=True
    )
    may = os.geteuid() == 0 and 'without real-time priority' not in done.stderr + done.stdout
    assert done.stdout.splitlines()[-1] == f'{may} True'


def test_urgent_work_has_real_time_priority_for_its_time_only():
    """Without the right to it, nothing changes."""
    found = []

    def policy():
        return os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK

    def work():
        with contextlib.suppress(ZeroDivisionError), urgent():
            found.append(policy())
            raise ZeroDivisionError
        found.append(policy())

    thread = threading.Thread(target=work)  # a priority is that of a thread
    thread.start()
    thread.join()
    assert found[1] == policy() == os.SCHED_OTHER
    assert found[0] == (os.SCHED_FIFO if os.geteuid() == 0 else os.SCHED_OTHER)
