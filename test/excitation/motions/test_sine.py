# SPDX-License-Identifier: Apache-2.0
"""Sines between two positions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import assert_derivatives, assert_rest_at_ends, random_sine

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.sine import SineMotion


def one(**changes):
    arguments = {'joints': ['a'], 'start': [-30.0], 'target': [70.0], 'frequency': 0.3}
    return SineMotion(**{**arguments, 'duration': 20.0, **changes})


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.2, 1.4), st.floats(0.2, 1.4))
def test_rest_at_both_ends_and_derivatives(seed, lead_in, lead_out):
    motion = random_sine(seed, lead_in=lead_in, lead_out=lead_out)
    assert_rest_at_ends(motion)
    assert_derivatives(motion)
    np.testing.assert_allclose(motion.sample(np.zeros(1)).position[0], motion.start)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_never_leaves_the_range_nor_exceeds_the_plain_sines_speed(seed):
    motion = random_sine(seed)
    grid = motion.grid(1e-3)
    low, high = np.sort([motion.start, motion.target], axis=0)
    assert (grid.position >= low - 1e-12).all() and (grid.position <= high + 1e-12).all()
    fastest = np.pi * motion.frequency * np.abs(motion.target - motion.start)
    assert (np.abs(grid.velocity) <= fastest * (1 + 1e-12)).all()


def test_softmc_example_between_the_leads():
    # The document's example: start -30, target 70, so 20 + 50 sin(...), f in [Hz].
    motion = one()
    time = np.linspace(1.0, 19.0, 200)
    expected = 20.0 + 50.0 * np.sin(2 * np.pi * 0.3 * (time - 0.5) - np.pi / 2)
    np.testing.assert_allclose(motion.sample(time).position[:, 0], expected, atol=1e-9)


@pytest.mark.parametrize(
    ('changes', 'sentence'),
    [
        ({'frequency': [0.0]}, "frequency of joint 'a' must be above 0 Hz, got 0"),
        ({'start': [np.nan]}, "start of joint 'a' is nan"),
        ({'start': [-1e16]}, "start of joint 'a' is -1e\\+16, expected a number"),
        ({'target': [1.0, 2.0]}, r"target must have 1 values, one for each of \['a'\], got 2"),
        ({'duration': 1.5}, r'1.5 s is too short for its lead-in \(1 s\) and lead-out \(1 s\)'),
        ({'duration': np.inf}, 'duration must be a number of seconds, not below 0, got inf'),
        ({'lead_in': -1.0}, 'lead_in must be a number of seconds'),
        ({'lead_out': 0.0, 'duration': 20.1}, "joint 'a' is not at rest .* lead_out must be"),
        ({'joints': []}, 'at least one joint'),
        ({'joints': ['a', 'a']}, "joint 'a' more than once"),
    ],
)
def test_what_cannot_be_run_is_refused(changes, sentence):
    with pytest.raises(MotionError, match=sentence):
        one(**changes)
