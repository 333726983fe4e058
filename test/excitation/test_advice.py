# SPDX-License-Identifier: Apache-2.0
"""Advice for sines made by hand: the document's table, and one line for each shortcoming."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import JOINTS, limits

from robodyn_ros.excitation.advice import CLOSE, advise, find_repetitions
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.excitation.motions.sine import SineMotion

# Table 2 of the document. Its second row is printed "1 1.2 1.2", but its comment (3 cycles of j2,
# 2 of j3) and its verdict belong to a third frequency of 0.8.
TABLE = [
    ((1.0, 2.0, 1.2), ('j1', 'j2'), (1, 2), 'bad'),
    ((1.0, 1.2, 0.8), ('j2', 'j3'), (3, 2), 'medium'),
    ((1.1, 1.3, 1.5), ('j1', 'j2'), (11, 13), 'good'),
]


@pytest.mark.parametrize(('frequency', 'pair', 'cycles', 'quality'), TABLE)
def test_the_documents_table(frequency, pair, cycles, quality):
    earliest = find_repetitions(('j1', 'j2', 'j3'), frequency)[0]
    assert (earliest.joints, earliest.cycles, earliest.quality) == (pair, cycles, quality)


@settings(max_examples=60)
@given(st.integers(1, 400), st.integers(1, 400), st.floats(0.01, 3.0))
def test_the_pattern_is_the_same_again_and_not_before(p, q, unit):
    (found,) = find_repetitions(('a', 'b'), (p * unit, q * unit))
    whole = np.array([p * unit, q * unit]) * found.time
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-6)
    assert np.gcd(*found.cycles) == 1


def sines(**changes):
    arguments = {
        'joints': JOINTS,
        'start': [-2.8, -2.8, -2.8],
        'target': [2.8, 2.8, 2.8],
        'frequency': [0.11, 0.13, 0.15],
        'duration': 50.0,
    }
    return SineMotion(**{**arguments, **changes})


def test_nothing_to_say_about_a_good_motion():
    advice = advise(sines(), limits())
    assert advice.lines == () and advice.quality == 'good'
    np.testing.assert_allclose(advice.cycles, np.array([0.11, 0.13, 0.15]) * 49.0)
    np.testing.assert_allclose(advice.range_share, 5.6 / 6.0)
    peak = np.abs(sines().grid(1e-3).velocity).max(axis=0)
    np.testing.assert_allclose(advice.velocity_share, peak / 3.0, rtol=1e-4)


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'frequency': [0.1, 0.2, 0.15]}, r'a and b repeat after 1 cycle\(s\) of a and 2 of b'),
        ({'frequency': [0.11, 0.15, 0.15]}, 'b and c never part'),
        ({'duration': 20.0}, 'a runs through 2.1 cycles: at least 3 are needed'),
        ({'target': [1.0, 2.8, 2.8]}, 'a uses 63% of its range -3 to 3 rad: let it swing wider'),
        ({'target': [3.3, 2.8, 2.8]}, 'a leaves its range'),
        ({'frequency': [0.011, 0.013, 0.015]}, 'no joint reaches more than 9% .* by 10.8'),
        ({'frequency': [0.11, 0.13, 0.45]}, 'c would exceed a limit: multiply all frequencies'),
        ({'frequency': [0.02, 0.13, 0.17]}, 'a stays at 12% of its velocity limit even so'),
    ],
)
def test_one_line_for_each_shortcoming(changes, words):
    import re

    lines = advise(sines(**changes), limits()).lines
    assert sum(re.search(words, line) is not None for line in lines) == 1, lines


@settings(max_examples=30)
@given(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3), st.floats(0.5, 50.0))
def test_the_factor_brings_the_motion_to_the_limits_and_not_over(frequency, acceleration):
    bounds = limits(acceleration=acceleration)
    advice = advise(sines(frequency=frequency, duration=200.0), bounds)
    faster = sines(
        frequency=advice.factor * np.array(frequency), duration=200.0, lead_in=50.0, lead_out=50.0
    )
    check_motion(faster, bounds)
    again = advise(faster, bounds)
    assert again.factor == pytest.approx(1.0)
    assert not [line for line in again.lines if 'multiply all frequencies' in line]
    hardest = (0.5 * 5.6 * (2 * np.pi * faster.frequency) ** 2).max() / acceleration
    assert max(again.velocity_share.max(), hardest) == pytest.approx(CLOSE)
