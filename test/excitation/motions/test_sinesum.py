# SPDX-License-Identifier: Apache-2.0
"""Sums of sines with frequencies of their own."""

import numpy as np
import pytest

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


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'frequency': [[0.2, 0.3], [0.1, 0.0]]}, "frequency of joint 'b' must be above 0"),
        ({'lead_in': 0.0}, "joint 'a' is not at rest"),
    ],
)
def test_refuses_with_a_sentence(changes, words):
    with pytest.raises(MotionError, match=words):
        SineSumMotion(**{**ARGUMENTS, **changes})
