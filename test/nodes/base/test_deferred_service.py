# SPDX-License-Identifier: Apache-2.0
"""A service is answered after its callback returned; test_node.py of excitation: by events."""

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from ros_client import RosClient, environment
from std_srvs.srv import Trigger

from robodyn_ros.nodes.base.deferred_service import DeferredService


@pytest.mark.ros
def test_an_answer_comes_later_while_others_are_given_at_once():
    client = RosClient(environment(43))
    node = rclpy.create_node('server', context=client.context)
    waiting = []

    def callback(request, response):
        response.message = 'at once'
        if waiting:
            return response
        waiting.append(response)
        return None

    service = DeferredService(node, Trigger, 'slow', callback)
    executor = SingleThreadedExecutor(context=client.context)
    executor.add_node(node)
    client.lost = lambda: executor.spin_once(timeout_sec=0.01) or ''  # in this process
    try:
        calls = client.node.create_client(Trigger, 'slow')
        client.wait(calls.service_is_ready, 'the service')
        first = calls.call_async(Trigger.Request())
        client.wait(lambda: waiting, 'the request')
        assert client.call(Trigger, 'slow', Trigger.Request()).message == 'at once'
        assert not first.done()
        service.answer(Trigger.Response(message='later'))
        client.wait(first.done, 'the answer')
        assert first.result().message == 'later'
    finally:
        executor.shutdown()
        node.destroy_node()
        client.close()
