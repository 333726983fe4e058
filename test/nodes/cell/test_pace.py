# SPDX-License-Identifier: Apache-2.0
"""When a cycle of 10 ms is due."""

import pytest

from robodyn_ros.nodes.cell.pace import BEHIND, Pace


def cycles(pace, begin, end, factor):
    """Return the number of cycles in a span of real time that is looked at every ms."""
    count = 0
    for step in range(round((end - begin) / 1e-3)):
        now = begin + 1e-3 * step
        if pace.due(now):
            pace.advance(now, factor)
            count += 1
    return count


@pytest.mark.parametrize('factor', [0.5, 1.0, 4.0])
def test_a_factor_is_the_speed(factor):
    assert cycles(Pace(0.01), 100.0, 102.0, factor) == pytest.approx(200 * factor, abs=25)


def test_zero_is_as_fast_as_possible():
    assert cycles(Pace(0.01), 100.0, 101.0, 0.0) == 1000


def test_a_short_delay_is_made_up_for_and_a_long_one_skipped():
    pace = Pace(0.01)
    assert pace.advance(100.0, 1.0) == 0.0
    assert pace.advance(100.0 + 0.5 * BEHIND, 1.0) == 0.0
    assert pace.due(100.0 + 0.5 * BEHIND)
    assert pace.advance(110.0, 1.0) == pytest.approx(10.0 - BEHIND, abs=BEHIND)
    assert cycles(pace, 110.0, 110.001, 1.0) <= 1 + BEHIND / 0.01


def test_after_a_fast_motion_real_time_goes_on_from_now():
    pace = Pace(0.01)
    cycles(pace, 100.0, 101.0, 0.0)
    assert cycles(pace, 101.0, 103.0, 1.0) == pytest.approx(200, abs=3 + BEHIND / 0.01)
