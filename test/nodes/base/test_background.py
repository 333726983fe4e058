# SPDX-License-Identifier: Apache-2.0
"""Work beside a spinning node: other callbacks go on, results and errors come back."""

import threading
import time

import pytest
import rclpy
from ros_client import PATIENCE, environment, joined
from std_srvs.srv import Trigger

from robodyn_ros.nodes.base.background import Background

pytestmark = pytest.mark.ros


@pytest.fixture
def bench():
    """Node, executor and background, in a context of their own."""
    context = joined(environment(9))
    node = rclpy.create_node('background_test', context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    background = Background(node)
    try:
        yield node, executor, background
    finally:
        background.close()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


def spin(executor, done, timeout=PATIENCE):
    deadline = time.monotonic() + timeout
    while not done():
        assert time.monotonic() < deadline
        executor.spin_once(timeout_sec=0.05)


def answers(bench, *works):
    """Answers of a service that runs each work in the background, called all at once."""
    node, executor, background = bench
    waiting = list(works)

    async def serve(_, response):
        try:
            response.message = str(await background.run(waiting.pop(0)))
            response.success = True
        except ValueError as error:
            response.message = str(error)
        return response

    node.create_service(Trigger, 'work', serve, callback_group=background.group)
    client = node.create_client(Trigger, 'work')
    spin(executor, client.service_is_ready)
    futures = [client.call_async(Trigger.Request()) for _ in works]
    spin(executor, lambda: all(future.done() for future in futures))
    return [future.result() for future in futures]


def test_an_error_is_raised_where_it_is_waited_for(bench):
    def fail():
        raise ValueError('no such thing')

    (answer,) = answers(bench, fail)
    assert not answer.success
    assert answer.message == 'no such thing'


def test_the_node_answers_meanwhile_and_works_run_one_at_a_time(bench):
    node, _, _ = bench
    ticks, spans = [], []
    node.create_timer(0.02, lambda: ticks.append(time.monotonic()))

    def slow():
        """Goes on until the node has done other things."""
        begin, seen = time.monotonic(), len(ticks)
        while len(ticks) < seen + 10 and time.monotonic() < begin + PATIENCE / 3:
            time.sleep(0.01)
        spans.append((begin, time.monotonic()))
        return 'done' if len(ticks) >= seen + 10 else 'nothing went on'

    assert [answer.message for answer in answers(bench, slow, slow)] == ['done', 'done']
    first, second = sorted(spans)
    assert first[1] <= second[0]


def test_a_check_ends_the_wait_and_not_the_work(bench):
    _, executor, background = bench
    release, ended = threading.Event(), []

    def work():
        release.wait(PATIENCE)
        ended.append(1)

    def check():
        raise ValueError('enough')

    async def wait():
        with pytest.raises(ValueError, match='enough'):
            await background.run(work, check=check)
        return list(ended)

    task = executor.create_task(wait)
    spin(executor, task.done)
    assert task.result() == []
    release.set()
    spin(executor, lambda: bool(ended))
