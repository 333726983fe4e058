# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.nodes.base.command_line import command_line


@pytest.mark.parametrize(
    ('words', 'expected'),
    [
        ('-p a:=1', {}),
        ('--ros-args -p a:=1 -p a:=2.5 --params-file f', {'a': 2.5}),
        ('--ros-args -p a:=1e3 --param b:=[5,2e0] -- -p c:=1', {'a': 1000.0, 'b': [5.0, 2.0]}),
        ('--ros-args -p one:a:=1 -p two:a:=2 -r a:=b', {'a': 1}),
        ('--ros-args -p a:=no -p b:=name -p', {'a': False, 'b': 'name'}),
        ('--ros-args -p a:=[', {}),
    ],
)
def test_values_are_those_that_rcl_reads(words, expected):
    assert command_line(words.split(), 'one') == expected
