# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import UR10

from robodyn_ros.identification.signals.processing import thinning_for
from robodyn_ros.identification.signals.thinning import Thinning, thin_columns
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.signals import central_differences, low_pass

RATE, CUTOFF = 1000.0, 20.0


@pytest.fixture(scope='module')
def model():
    return robot_model(UR10)


@pytest.fixture(scope='module')
def motion():
    """Sines and noise that went through the low pass, with their differences."""
    random, time = np.random.default_rng(0), np.arange(4000) / RATE
    waves = np.sin(2.0 * np.pi * np.arange(0.5, 2.1, 0.25)[:6] * time[:, None])
    position = low_pass(waves + 1e-4 * random.normal(size=waves.shape), CUTOFF, RATE)
    velocity = central_differences(position, time)
    return position, velocity, central_differences(velocity, time)


def response(taps, step, frequency):
    """Gain of a symmetric filter of every step-th sample."""
    place = step * (np.arange(len(taps)) - len(taps) // 2)
    return np.cos(2.0 * np.pi * np.outer(frequency, place) / RATE) @ taps


@pytest.mark.parametrize('cutoff', [62.0, 20.0, 10.0])
def test_the_coarse_filter_passes_what_the_whole_one_does(cutoff):
    whole = thinning_for(RATE, cutoff)
    assert whole.stride == int(RATE / (4.0 * cutoff)) == whole.coarse.stride * whole.step
    passed, stopped = np.linspace(0.0, 2.4 * cutoff, 50), np.linspace(3.5 * cutoff, 4.0 * cutoff)
    for frequency, most in ((passed, 5e-6), (stopped, 0.1)):
        error = response(whole.coarse.taps, whole.step, frequency)
        error = error - response(whole.taps, 1, frequency)
        assert np.abs(error).max() < most
    assert whole.step > 1 and whole.coarse.count(100) == whole.count(99 * whole.step + 1)


def test_columns_are_those_of_all_samples(model, motion):
    thinning = thinning_for(RATE, CUTOFF)
    assert thinning.step == 6
    columns = [np.flatnonzero(np.arange(84) % 5 != joint % 5) for joint in range(6)]
    found = thin_columns(model, motion, columns, thinning)
    every = Thinning(thinning.taps, thinning.stride)  # no step
    expected = thin_columns(model, motion, columns, every)
    np.testing.assert_array_equal(expected, thinning.apply(model.pack_columns(*motion, columns)))
    size = np.abs(expected).max(axis=0)
    # Ends of the filtered sines begin with a jerk of their own.
    np.testing.assert_allclose(found[5:-5], expected[5:-5], atol=5e-6 * size.max(), rtol=1e-5)
    friction = np.concatenate(columns) >= 66
    np.testing.assert_array_equal(found[:, friction], expected[:, friction])
    assert friction.sum() > 50
    assert (found[5:-5, ~friction] != expected[5:-5, ~friction]).any()  # every 6th sample
