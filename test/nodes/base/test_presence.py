# SPDX-License-Identifier: Apache-2.0
"""Presence over real DDS, between two processes: a kill is noticed, and a new start too."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import rclpy
from robodyn_ros.msg import NodePresence
from ros_client import PATIENCE, RosClient, environment

from robodyn_ros.errors import ConfigError, ControlError
from robodyn_ros.faults import fault_of, number_of
from robodyn_ros.nodes.base import presence
from robodyn_ros.nodes.base.presence import GRACE, LEASE, Owner, Presence, Watch

pytestmark = pytest.mark.ros
NUMBER = 48
OTHER = """
import time, rclpy
from robodyn_ros.nodes.base.presence import Presence
rclpy.init()
node = rclpy.create_node('other', namespace='arm')
presence = Presence(node, command_topic='/topic', joints=['a'], max_acceleration=[2.0])
presence.tell('work', 'problem')
time.sleep(600.0)
"""


@pytest.fixture
def client():
    client = RosClient(environment(NUMBER))
    yield client
    client.close()


@pytest.fixture
def other():
    """Return a function that starts the other process."""
    processes = []

    def start():
        command = [sys.executable, '-c', OTHER]
        processes.append(subprocess.Popen(command, env=environment(NUMBER)))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.real_time
def test_a_kill_is_noticed_and_so_is_a_new_start(client, other):
    watch, owner = Watch(client.node, '/arm/other'), Owner(client.node)
    owner.take('/arm/other')
    assert not watch.seen and not watch.problem()
    process = other()
    client.wait(lambda: watch.seen and watch.message.problem, 'the other node')
    told = watch.message
    assert (told.work, told.problem, told.command_topic) == ('work', 'problem', '/topic')
    assert (list(told.joints), list(told.max_acceleration)) == (['a'], [2.0])
    assert not watch.problem() and not owner.problem()
    process.kill()
    killed = time.monotonic()
    client.wait(watch.problem, 'the end of the other node')
    assert watch.problem() == 'node arm/other is gone'
    # far below the 20 s of DDS; a machine may stand still meanwhile
    assert time.monotonic() - killed < 2.5 * LEASE + GRACE
    client.wait(owner.problem, 'the end of the owner')
    assert owner.problem() == 'node arm/other is gone (it asked for this)'
    watch.begin()
    assert not watch.seen and not watch.problem()
    other()
    client.wait(lambda: watch.seen, 'the new node')
    other()  # that it replaces: before its end is noticed
    client.wait(watch.problem, 'the news of another process')
    owner.take('')
    assert not owner.problem()


def test_a_late_sign_of_life_is_no_end(client, monkeypatch):
    watch = Watch(client.node, '/arm/late')
    lost, back = (
        SimpleNamespace(alive_count=0, alive_count_change=-1),
        SimpleNamespace(alive_count=1),
    )
    for event in (back, lost):
        watch._on_liveliness(event)
    assert not watch.problem() and not watch.seen
    watch._on_liveliness(back)
    monkeypatch.setattr(presence, 'GRACE', 0.0)
    assert not watch.problem()
    watch._on_liveliness(lost)
    client.wait(watch.problem, 'the end')


def test_a_message_that_comes_before_the_sign_of_life_counts(client):
    """Discovery brings both in any order, and the message only once."""
    watch = Watch(client.node, 'peer')
    watch._on_message(SimpleNamespace(process='first'))
    watch.begin()  # in between
    assert not watch.seen
    watch._on_liveliness(SimpleNamespace(alive_count=1))
    assert watch.seen and not watch.problem()
    watch._on_liveliness(SimpleNamespace(alive_count=0, alive_count_change=-1))
    watch.begin()  # while a sign of life is late, which no message follows
    assert not watch.seen
    watch._on_liveliness(SimpleNamespace(alive_count=1))
    assert watch.seen and not watch.problem()


def test_a_sign_of_life_that_comes_before_the_message_of_a_new_process_counts(client):
    watch = Watch(client.node, 'peer')
    watch._on_message(SimpleNamespace(process='first'))
    watch._on_liveliness(SimpleNamespace(alive_count=0, alive_count_change=-1))
    watch.begin()
    watch._on_liveliness(SimpleNamespace(alive_count=1))
    watch._on_message(SimpleNamespace(process='second'))
    assert watch.seen and not watch.problem()
    watch._on_message(SimpleNamespace(process='third'))
    assert watch.problem() == 'node peer is gone'


def test_a_node_that_is_not_there_is_missed(client, monkeypatch):
    monkeypatch.setattr(presence, 'MISSING', 0.2)
    watch = Watch(client.node, 'nobody')
    client.wait(watch.problem, 'patience to end', PATIENCE)
    assert watch.problem() == 'node nobody is not there after 0 s: is it running?'


def test_a_name_that_no_node_can_have_is_one_sentence(client):
    with pytest.raises(ConfigError, match="'what is this' is not the name of a node"):
        Owner(client.node).take('what is this')


def test_without_liveliness_events_the_graph_tells(client, other, monkeypatch):
    real = client.node.create_subscription

    def create(*arguments, event_callbacks=None):
        if event_callbacks is not None:
            raise presence.UnsupportedEventTypeError('not here')
        return real(*arguments)

    fake = SimpleNamespace(
        create_subscription=create, count_publishers=client.node.count_publishers
    )
    watch = Watch(fake, '/arm/other')
    other()
    client.wait(lambda: watch.seen, 'the other node')
    assert not watch.problem()
    monkeypatch.setattr(fake, 'count_publishers', lambda topic: 0)
    assert watch.problem() == 'node arm/other is gone'


def test_a_node_refuses_work_while_another_one_has_its_name(client):
    name = client.node.get_name()
    own = Presence(client.node)
    own.check_alone()
    code = OTHER.replace("'other', namespace='arm'", repr(name))
    code = code.replace('time.sleep(600.0)', 'input(); node.destroy_node(); rclpy.shutdown()')
    process = subprocess.Popen(
        [sys.executable, '-c', code], env=environment(NUMBER), stdin=subprocess.PIPE
    )
    try:
        client.wait(lambda: refusal(own), 'the doubled node')
        text = f'2 nodes are named /{name}, each acts on every request: end one of them (one that '
        assert refusal(own).startswith(text) and number_of(refusal(own)) == 211
        process.communicate(b'\n')
        client.wait(lambda: not refusal(own), 'the end of the other node')
    finally:
        process.kill()
        process.wait()


def test_a_message_of_a_node_with_another_name_is_no_second_node(client):
    own = Presence(client.node)
    foreign = rclpy.create_node('other', namespace='arm', context=client.node.context)
    topic = f'{client.node.get_fully_qualified_name()}/presence'
    publisher = foreign.create_publisher(NodePresence, topic, presence._qos())
    publisher.publish(NodePresence(process='foreign'))
    client.wait(lambda: own._other == 'foreign', 'its message')
    client.wait(lambda: not refusal(own), 'the name of its node')
    foreign.destroy_node()


@pytest.mark.real_time
def test_a_node_that_stood_still_sees_another_one_with_its_name(client):
    """Its own sign of life is then lost for ever, and was mistaken for the other one's."""
    watch = Watch(client.node, client.node.get_fully_qualified_name())
    own = Presence(client.node)
    client.wait(lambda: watch.seen, 'its own sign of life')
    stop = f'kill -STOP {os.getpid()}; sleep {1.5 * LEASE}; kill -CONT {os.getpid()}'
    subprocess.run(['sh', '-c', stop], check=True)
    client.wait(lambda: not watch.seen, 'the loss of its own sign of life')
    code = OTHER.replace("'other', namespace='arm'", repr(client.node.get_name()))
    process = subprocess.Popen([sys.executable, '-c', code], env=environment(NUMBER))
    try:
        client.wait(lambda: refusal(own), 'the doubled node')
        process.kill()  # of which DDS tells after 20 s
        client.wait(lambda: not refusal(own), 'the end of the other node')
    finally:
        process.kill()
        process.wait()


def refusal(own):
    """Return the sentence that refuses work; empty: it is accepted."""
    try:
        own.check_alone()
    except ControlError as error:
        return fault_of(error, str(error))
    return ''
