# SPDX-License-Identifier: Apache-2.0
"""Texts of errors: one line with an end, whatever names they hold."""

import pickle

import pytest

from robodyn_ros.errors import MOST, ConfigError, clip


def test_a_sentence_stays_as_it_is():
    assert str(ConfigError("joint 'ä': 3 values")) == "joint 'ä': 3 values"
    assert clip('') == ''


def test_a_sentence_has_an_end_however_many_names_there_are():
    names = [f'joint_{"x" * 80}_{number}' for number in range(300)]
    text = str(ConfigError(f'it is not one of {names}'))
    assert text.startswith("it is not one of ['joint_xxx") and text.endswith("_299']")
    assert len(text) == MOST


@pytest.mark.parametrize('break_', ['\n', '\x1c', '\u2028'])
def test_a_sentence_is_one_line(break_):
    assert str(ConfigError(f'one{break_}line')) == 'one line'


def test_control_characters_do_not_reach_a_terminal():
    assert str(ConfigError('file \x1b[31m\0')) == 'file \\x1b[31m\\x00'


def test_lines_come_along_between_processes_and_are_bounded_too():
    error = pickle.loads(pickle.dumps(ConfigError('no', lines=['a: 1', 'b:\n2'])))
    assert (str(error), error.lines) == ('no', ('a: 1', 'b: 2'))
    assert ConfigError('no').lines == ()
