"""What a node refuses: counted, one sentence, and no exception leaves a callback."""

import asyncio
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from std_srvs.srv import SetBool

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base import refusals
from robodyn_ros.nodes.base.refusals import Refusals, guarded, refused_response, sentence


def test_an_error_is_one_line_with_its_type_unless_it_is_meant_for_the_user():
    assert sentence(ConfigError('a\n  b')) == 'a b'
    assert sentence(FileNotFoundError(2, 'gone', 'x')) == "[Errno 2] gone: 'x'"
    assert sentence(KeyError('k')) == "unexpected KeyError: 'k'"
    assert sentence(ConfigError('x' * 5000)) == 'x' * 1000 + '...'


def test_counts_are_shown_only_where_there_is_something(monkeypatch):
    lines, now = [], [100.0]
    monkeypatch.setattr(refusals.time, 'monotonic', lambda: now[0])
    counted = Refusals(lines.append)
    assert counted.details() == {}
    for _ in range(3):
        assert counted.refuse('request of ~/x', ConfigError('no')) == 'no'
    now[0] += refusals.LOG_PERIOD
    assert counted.unexpect('timer', ValueError('bad')) == 'timer: unexpected ValueError: bad'
    assert lines == [
        'request of ~/x refused: no',
        'timer: unexpected ValueError: bad (and 2 more since the last line)',
    ]
    assert counted.details() == {
        'refused_requests': 3,
        'last_refused_request': 'request of ~/x refused: no',
        'unexpected_errors': 1,
        'last_unexpected_error': 'timer: unexpected ValueError: bad',
    }


def test_only_an_answer_without_success_is_counted():
    counted = Refusals(print)
    for answer in (True, None, SetBool.Response(success=True)):
        assert counted.note('request', answer) is answer
    assert counted.refused == 0
    counted.note('request', SetBool.Response(success=False, message='why'))
    assert (counted.refused, counted.refusal) == (1, 'request: why')


def test_no_exception_leaves_a_guarded_callback():
    def failed(error, *arguments):
        return str(error), arguments

    def divide(number):
        return 1 / number

    async def wait(number):
        return divide(number)

    assert guarded(None, failed) is None
    assert guarded(divide, failed, str)(2) == '0.5'
    assert guarded(divide, failed)(0) == ('division by zero', (0,))
    assert asyncio.run(guarded(wait, failed, str)(2)) == '0.5'
    assert asyncio.run(guarded(wait, failed)(0)) == ('division by zero', (0,))
    with pytest.raises(KeyboardInterrupt):  # the end of the process is no refusal
        guarded(lambda: exec('raise KeyboardInterrupt'), failed)()


def test_every_kind_of_response_says_no():
    response = refused_response(SetBool.Request(), SetBool.Response(success=True), 'why')
    assert (response.success, response.message) == (False, 'why')
    some = SetParameters.Request(parameters=[{}] * 0)
    assert refused_response(some, SetParameters.Response(), 'why').results == []
    several = SimpleNamespace(parameters=[1, 2])
    results = refused_response(several, SetParameters.Response(), 'why').results
    assert [(item.successful, item.reason) for item in results] == [(False, 'why')] * 2
    result = refused_response(several, SetParametersAtomically.Response(), 'why').result
    assert (result.successful, result.reason) == (False, 'why')
