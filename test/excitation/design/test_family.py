# SPDX-License-Identifier: Apache-2.0
"""Families of motions: sampled as the motions they make, and their derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import JOINTS, assert_rest_at_ends

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.family import FourierFamily, SineSumFamily

POSITION = [0.1, -0.5, 1.0]


def fourier(**changes):
    return FourierFamily(
        **{'joints': JOINTS, 'position': POSITION, 'duration': 7.0, 'harmonics': 4, **changes}
    )


def sines(**changes):
    arguments = {'joints': JOINTS, 'position': POSITION, 'duration': 7.0, 'sines': 3}
    return SineSumFamily(**{**arguments, 'highest': [0.5, 1.0, 2.0], **changes})


@pytest.mark.parametrize('make', [fourier, sines])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_samples_are_those_of_the_motion_scaled(make, seed):
    family, random = make(), np.random.default_rng(seed)
    x, scale = family.start(random), random.uniform(0.1, 1.0, 3)
    assert x.shape == (family.size,)
    motion = family.motion(x, scale)
    assert motion.joints == JOINTS and motion.duration == pytest.approx(7.0)
    assert_rest_at_ends(motion)
    np.testing.assert_allclose(motion.sample(np.zeros(1)).position[0], POSITION, atol=1e-12)
    time = np.linspace(0.0, 7.0, 23)
    there = motion.sample(time)
    deviation = family.prepare(time).deviation(x) * scale
    np.testing.assert_allclose(POSITION + deviation[0], there.position, atol=1e-9)
    np.testing.assert_allclose(deviation[1], there.velocity, atol=1e-9)
    np.testing.assert_allclose(deviation[2], there.acceleration, atol=1e-8)


@pytest.mark.parametrize(
    ('make', 'words'),
    [
        (lambda: fourier(harmonics=1), '2 to 100 harmonics, got 1'),
        (lambda: sines(sines=0), '1 to 100 sines'),
        (lambda: sines(highest=[1.0, 0.0, 1.0]), 'above 0 Hz'),
    ],
)
def test_refuses_with_a_sentence(make, words):
    with pytest.raises(MotionError, match=words):
        make()
