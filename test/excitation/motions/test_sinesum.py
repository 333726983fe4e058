# SPDX-License-Identifier: Apache-2.0
"""Sums of sines with frequencies of their own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import JOINTS, assert_derivatives, assert_rest_at_ends

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.sinesum import SineSumMotion

ARGUMENTS = {
    'joints': ['a', 'b'],
    'center': [0.1, -0.2],
    'amplitude': [[0.3, -0.1], [0.2, 0.4]],
    'frequency': [[0.2, 0.37], [0.11, 0.5]],
    'duration': 12.0,
}


def test_equals_the_printed_formula_term_by_term_between_the_leads():
    motion = SineSumMotion(**ARGUMENTS)
    for t in (1.0, 3.3, 11.0):
        for joint in range(2):
            expected = ARGUMENTS['center'][joint]
            for k in range(2):
                w = 2 * np.pi * ARGUMENTS['frequency'][joint][k]
                # the lead-in of 1 s lets the curve fall back by half a second
                expected += ARGUMENTS['amplitude'][joint][k] * np.sin(w * (t - 0.5))
            position = motion.sample(np.array([t])).position[0, joint]
            assert position == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.2, 1.4), st.floats(0.2, 1.4))
def test_rest_at_both_ends_and_derivatives(seed, lead_in, lead_out):
    rng = np.random.default_rng(seed)
    motion = SineSumMotion(
        joints=JOINTS,
        center=rng.uniform(-1, 1, 3),
        amplitude=rng.normal(size=(3, 4)) * 0.3,
        frequency=rng.uniform(0.05, 0.8, (3, 4)),
        duration=rng.uniform(3, 8),
        lead_in=lead_in,
        lead_out=lead_out,
    )
    assert_rest_at_ends(motion)
    assert_derivatives(motion)
    np.testing.assert_allclose(motion.sample(np.zeros(1)).position[0], motion.center)


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'amplitude': [[0.3], [0.2, 0.4]]}, 'amplitude must be numbers'),
        ({'amplitude': [[0.3, 0.1]]}, "2 rows, one for each of \\['a', 'b'\\]"),
        ({'amplitude': [[0.3, np.nan], [0.2, 0.4]]}, "amplitude of joint 'a'"),
        ({'frequency': [[0.2], [0.3]]}, 'as many columns, got 2 and 1'),
        ({'frequency': [[0.2, 0.3], [0.1, 0.0]]}, "frequency of joint 'b' must be above 0"),
        ({'duration': 1.5}, 'too short'),
        ({'lead_in': 0.0}, "joint 'a' is not at rest"),
    ],
)
def test_refuses_with_a_sentence(changes, words):
    with pytest.raises(MotionError, match=words):
        SineSumMotion(**{**ARGUMENTS, **changes})
