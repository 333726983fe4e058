# SPDX-License-Identifier: Apache-2.0
"""Base of every node: an exception in a callback is refused or reported, and nothing ends."""

import pytest
import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter
from rcl_interfaces.srv import SetParameters
from rclpy.lifecycle import TransitionCallbackReturn
from ros_client import environment, joined
from std_msgs.msg import Empty
from std_srvs.srv import SetBool

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.suite_node import SuiteLifecycleNode, SuiteNode

pytestmark = pytest.mark.ros


@pytest.fixture
def context():
    context = joined(environment(72))
    yield context
    rclpy.try_shutdown(context=context)


@pytest.fixture
def node(context):
    node = SuiteNode('guarded', context=context)
    node.reported = []
    node.on_unexpected = node.reported.append
    yield node
    node.destroy_node()


def fail(*_):
    raise ValueError('bad')


def refuse(*_):
    raise ConfigError('not so')


def counts(node):
    return node.refusals.refused, node.refusals.unexpected


def test_a_request_is_refused_with_the_reason(node):
    for callback, reason in ((fail, 'unexpected ValueError: bad'), (refuse, 'not so')):
        service = node.create_service(SetBool, callback.__name__, callback)
        response = service.callback(SetBool.Request(), SetBool.Response(success=True))
        assert (response.success, response.message) == (False, reason)
    assert counts(node) == (2, 0) and not node.reported


def test_an_unexpected_error_of_a_message_or_timer_is_reported_and_a_refusal_is_not(node):
    node.create_subscription(Empty, 'refused', refuse, 1).callback(Empty())
    assert counts(node) == (1, 0) and not node.reported
    node.create_subscription(Empty, 'failed', fail, 1).callback(Empty())
    node.create_timer(1000.0, fail).callback()
    assert counts(node) == (1, 2)
    assert node.reported == [
        'message on failed: unexpected ValueError: bad',
        'timer of 1e+03 s: unexpected ValueError: bad',
    ]


def test_an_error_while_coming_to_a_safe_state_ends_nothing(node):
    def again(reason):
        node.report_error('again', KeyError('k'))
        fail()

    node.on_unexpected = again
    node.report_error('first', ValueError('bad'))
    assert node.refusals.unexpected == 3
    assert node.refusals.error == 'while coming to a safe state: unexpected ValueError: bad'


def test_a_transition_that_raises_is_an_error_of_the_transition(context):
    class Bad(SuiteLifecycleNode):
        def on_configure(self, state):
            fail()

    node = Bad('bad', context=context)
    try:
        results = [callback(None) for callback in node._callbacks.values()]
        assert TransitionCallbackReturn.ERROR in results
        assert node.refusals.unexpected == 1
    finally:
        node.destroy_node()


def test_unknown_parameter_types_and_transitions_are_sentences(context):
    node = SuiteLifecycleNode('strict', context=context)
    try:
        services = {service.srv_name.rsplit('/', 1)[-1]: service for service in node.services}
        request = SetParameters.Request(parameters=[Parameter(name='p')])
        request.parameters[0].value.type = 99
        response = services['set_parameters'].callback(request, SetParameters.Response())
        assert 'no parameter type 99' in response.results[0].reason
        request = ChangeState.Request(transition=Transition(id=99))
        response = services['change_state'].callback(request, ChangeState.Response())
        assert not response.success
        assert 'unconfigured has no transition 99' in node.refusals.refusal
        assert counts(node) == (2, 0)
    finally:
        node.destroy_node()
