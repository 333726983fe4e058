# SPDX-License-Identifier: Apache-2.0
import math

from robodyn_ros.cli.demo.story import Figure, render


def test_limits_hold_from_both_sides():
    assert Figure('a', 3.0, 3.0, '%').reached
    assert not Figure('a', 3.1, 3.0, '%').reached
    assert Figure('a', 70.0, 70.0, '%', at_least=True).reached
    assert not Figure('a', 69.9, 70.0, '%', at_least=True).reached
    assert not any(Figure('a', math.nan, 3.0, '%', each).reached for each in (False, True))


def test_the_table_says_what_was_missed():
    text = render([Figure('residual', 2.5, 3.0, '%'), Figure('cut', 10.0, 70.0, '%', True)])
    lines = text.splitlines()
    assert lines[2].endswith('reached') and '<=' in lines[2] and '2.50' in lines[2]
    assert lines[3].endswith('MISSED') and '>=' in lines[3]
    assert len({line.index('%') for line in lines[2:]}) == 1
