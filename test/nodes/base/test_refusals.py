# SPDX-License-Identifier: Apache-2.0
"""A refusal is counted and has one sentence, and no exception leaves a callback."""

import asyncio
from types import SimpleNamespace

import pytest
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from std_srvs.srv import SetBool

from robodyn_ros.errors import MOST, ConfigError
from robodyn_ros.nodes.base import refusals
from robodyn_ros.nodes.base.refusals import (
    BoundedLogger,
    Refusals,
    guard_callback,
    sentence,
    set_refusal,
)


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
    counted.refuse('request of ~/x', ConfigError('late'))
    counted.flush()
    assert len(lines) == 2
    now[0] += refusals.LOG_PERIOD
    counted.flush()
    counted.flush()
    assert lines[2:] == ['request of ~/x refused: late']
    assert counted.details() == {
        'refused_requests': 4,
        'last_refused_request': 'request of ~/x refused: late',
        'unexpected_errors': 1,
        'last_unexpected_error': 'timer: unexpected ValueError: bad',
    }


def test_an_answer_without_success_is_counted_and_shown_without_long_names():
    counted = Refusals(print)
    for answer in (True, None, SetBool.Response(success=True)):
        assert counted.note('request', answer) is answer
    assert counted.refused == 0
    counted.note('request', SetBool.Response(success=False, message='n' * 5000))
    assert counted.refused == 1 and 'n' * 80 not in str(counted.details())
    assert 'n' * 900 in counted.refuse('request', ConfigError('n' * 5000))  # who asked may know


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('short\n  text', 'short text'),
        ("no joint '" + 'j ' * 500 + "', x", "no joint 'j j j j"),
        ('no ' + 'd/' * 900 + 'file.yaml: x', 'no d/d/d/'),
        ('word ' * 500, 'word ' * 200 + '...'),
    ],
)
def test_long_names_and_sentences_are_cut_in_the_log(text, expected):
    lines = []
    Refusals(lines.append).say(text)
    assert lines[0].startswith(expected)
    assert max(map(len, lines[0].split())) <= refusals.SHOWN
    assert len(lines[0]) <= (refusals.MOST + 3 if 'word' in text else 100)
    assert lines[0].endswith((text[-5:].strip(), '...'))


def test_no_exception_leaves_a_guarded_callback():
    def failed(error, *arguments):
        return str(error), arguments

    def divide(number):
        return 1 / number

    async def wait(number):
        return divide(number)

    assert guard_callback(None, failed) is None
    assert guard_callback(divide, failed, str)(2) == '0.5'
    assert guard_callback(divide, failed)(0) == ('division by zero', (0,))
    assert asyncio.run(guard_callback(wait, failed, str)(2)) == '0.5'
    assert asyncio.run(guard_callback(wait, failed)(0)) == ('division by zero', (0,))
    with pytest.raises(KeyboardInterrupt):  # the end of the process is no refusal
        guard_callback(lambda: exec('raise KeyboardInterrupt'), failed)()


def test_every_kind_of_response_says_no():
    response = set_refusal(SetBool.Request(), SetBool.Response(success=True), 'why')
    assert (response.success, response.message) == (False, 'why')
    some = SetParameters.Request(parameters=[{}] * 0)
    assert set_refusal(some, SetParameters.Response(), 'why').results == []
    several = SimpleNamespace(parameters=[1, 2])
    results = set_refusal(several, SetParameters.Response(), 'why').results
    assert [(item.successful, item.reason) for item in results] == [(False, 'why')] * 2
    result = set_refusal(several, SetParametersAtomically.Response(), 'why').result
    assert (result.successful, result.reason) == (False, 'why')


def test_every_line_is_bounded_and_every_severity_allowed(capfd):
    logger = BoundedLogger('bounded')
    for text in ('n' * 100_000, '\x1b[31m'):
        logger.info(text)  # rclpy allows one severity in each line of code
        logger.warning(text)
        logger.error(text)
    lines = ''.join(capfd.readouterr()).splitlines()
    assert len(lines) == 6
    assert max(map(len, lines)) < MOST + 100 and '\x1b' not in ''.join(lines)
