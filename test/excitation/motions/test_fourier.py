# SPDX-License-Identifier: Apache-2.0
"""Fourier series from coefficients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import JOINTS, assert_derivatives, assert_rest_at_ends, random_fourier

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.fourier import FourierMotion

ARGUMENTS = {
    'joints': ['a', 'b'],
    'center': [0.1, -0.2],
    'a': [[0.3, -0.3], [0.1, -0.1]],
    'b': [[0.2, -0.1], [0.4, -0.2]],
    'base_frequency': 0.1,
}


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_series_that_moves_at_its_ends_gets_leads(seed):
    motion = random_fourier(seed)
    assert (motion.lead_in, motion.lead_out) == (1.0, 1.0)
    assert motion.duration == pytest.approx(1.0 / motion.base_frequency + 2.0)
    assert_rest_at_ends(motion)
    assert_derivatives(motion)


def test_equals_the_printed_formula_term_by_term():
    motion = FourierMotion(**ARGUMENTS)
    assert motion.duration == pytest.approx(10.0) and motion.lead_in == 0.0
    w = 2 * np.pi * 0.1
    for t in (0.0, 1.3, 7.7):
        for joint in range(2):
            expected = ARGUMENTS['center'][joint]
            for order in (1, 2):
                a, b = ARGUMENTS['a'][joint][order - 1], ARGUMENTS['b'][joint][order - 1]
                expected += a / (w * order) * np.sin(w * order * t)
                expected -= b / (w * order) * np.cos(w * order * t)
            position = motion.sample(np.array([t])).position[0, joint]
            assert position == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_nearest_series_at_rest(seed, harmonics):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 3, harmonics))
    place = rng.normal(size=3)
    motion = FourierMotion.from_rest(joints=JOINTS, position=place, a=a, b=b, base_frequency=0.2)
    assert_rest_at_ends(motion, tolerance=1e-8)
    ends = motion.sample(np.array([0.0, motion.duration])).position
    np.testing.assert_allclose(ends, [place, place], atol=1e-9)
    assert motion.duration == pytest.approx(5.0)
    # Nearest: what was taken away is orthogonal to every series that meets the conditions.
    order = np.arange(1, harmonics + 1)
    null_a = np.linalg.svd(np.ones((1, harmonics)))[2][1:]
    null_b = np.linalg.svd(order[None, :] * 1.0)[2][1:]
    np.testing.assert_allclose((a - motion.a) @ null_a.T, 0.0, atol=1e-9)
    np.testing.assert_allclose((b - motion.b) @ null_b.T, 0.0, atol=1e-9)


def test_too_few_harmonics_to_rest():
    with pytest.raises(MotionError, match='at least 2 harmonics'):
        FourierMotion.from_rest(
            joints=['a'], position=[0.0], a=[[1.0]], b=[[1.0]], base_frequency=0.1
        )


@pytest.mark.parametrize(
    ('changes', 'sentence'),
    [
        ({'a': [[1.0, 2.0]]}, r'^a must be 2 rows.*got the shape \(1, 2\)'),
        ({'a': [[1.0, 2.0], [1.0]]}, '^a must be numbers'),
        ({'b': [[1.0], [1.0]]}, 'a and b must have as many columns, got 2 and 1'),
        ({'base_frequency': 0.0}, 'base_frequency must be above 0 Hz, got 0'),
        ({'a': [[1.0, 1.0], [0.0, 0.0]], 'lead_in': 0.0}, "joint 'a' is not at rest .*lead_in"),
    ],
)
def test_what_is_no_series_is_refused(changes, sentence):
    with pytest.raises(MotionError, match=sentence):
        FourierMotion(**{**ARGUMENTS, **changes})
