# SPDX-License-Identifier: Apache-2.0
"""Requests that rclpy cannot answer are refused with a sentence."""

from types import SimpleNamespace

import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from std_srvs.srv import Trigger

from robodyn_ros.bounds import BoundError
from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.strict_requests import (
    ARRAYS,
    MOST,
    TYPES,
    VALUES,
    check_parameters,
    check_transition,
)


@pytest.mark.parametrize('kind', [*TYPES, 10, 255])
def test_a_parameter_of_an_unknown_type_is_refused(kind):
    request = SetParameters.Request(parameters=[Parameter(name='p')])
    request.parameters[0].value = ParameterValue(type=kind)
    if kind in TYPES:
        check_parameters(request)
        return
    with pytest.raises(ConfigError, match=rf"parameter 'p': there is no parameter type {kind}"):
        check_parameters(request)


@pytest.mark.parametrize('field', ARRAYS)
def test_arrays_that_keep_a_stop_waiting_are_refused(field):
    element = {'byte': b'x', 'bool': True, 'integer': 1, 'double': 1.0, 'string': ''}
    half = [element[field.partition('_')[0]]] * (VALUES.most // 2)
    request = SetParameters.Request(
        parameters=[Parameter(name='p', value=ParameterValue(type=1, **{field: half}))] * 2
    )
    check_parameters(request)
    request.parameters *= 2
    with pytest.raises(BoundError, match=r'at most 10000 values, got 20000'):
        check_parameters(request)


def test_too_many_names_are_refused_before_they_are_looked_up():
    check_parameters(GetParameters.Request(names=['p'] * MOST))
    check_parameters(Trigger.Request())
    for request in (
        GetParameters.Request(names=['p'] * (MOST + 1)),
        ListParameters.Request(prefixes=['p'] * (MOST + 1)),
    ):
        with pytest.raises(ConfigError, match=f'at most, got {MOST + 1}'):
            check_parameters(request)


POSSIBLE = [(1, 'configure', 1, 'unconfigured', 10, 'configuring'),
            (5, 'shutdown', 1, 'unconfigured', 12, 'shuttingdown')]  # fmt: skip
NODE = SimpleNamespace(
    _state_machine=SimpleNamespace(
        available_transitions=POSSIBLE, current_state=(1, 'unconfigured')
    )
)


@pytest.mark.parametrize(('number', 'label', 'name'), [(99, '', '99'), (1, 'x', "'x'")])
def test_another_one_is_refused_with_those_that_there_are(number, label, name):
    request = ChangeState.Request(transition=Transition(id=number, label=label))
    text = f'unconfigured has no transition {name}, it has: configure .1., shutdown .5.'
    with pytest.raises(ConfigError, match=text):
        check_transition(NODE, request)
    for number, label in ((1, ''), (5, ''), (99, 'configure')):
        transition = Transition(id=number, label=label)
        check_transition(NODE, ChangeState.Request(transition=transition))
