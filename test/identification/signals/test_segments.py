# SPDX-License-Identifier: Apache-2.0
import tracemalloc

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.signals import segments as module
from robodyn_ros.recording.recording import Recording


@pytest.fixture(scope='module')
def case():
    model, truth = arm(random_urdf(2, 70, types=('revolute',)))
    return model, truth


def both(case, monkeypatch, *, given, options):
    """Results of the same recording as a whole and in segments."""
    model, truth = case
    recording = record(model, truth, 9000, noise=0.02, derivatives=given)
    arguments = {'options': options, 'validation': record(model, truth, 9000, seed=3, noise=0.02)}
    whole = identify(recording, model, **arguments)
    monkeypatch.setattr(module, 'LONGEST', 5000)
    monkeypatch.setattr(module, 'SEGMENT', 3100)
    return whole, identify(recording, model, **arguments)


@pytest.mark.parametrize('estimator', ['wls', 'covariance', 'robust'])
def test_segments_give_the_same_as_the_whole_where_nothing_is_filtered(
    case, monkeypatch, estimator
):
    # One candidate: weights of several would be those of a sample.
    options = IdentifyOptions(estimator=estimator, consistent='no', prior='none')
    whole, parts = both(case, monkeypatch, given=True, options=options)
    # Thresholds are a share of the largest velocity of a segment, robust weights of a sample.
    near = {'wls': 0.05, 'covariance': 0.05, 'robust': 0.8}[estimator]
    assert (np.abs(parts.base_values - whole.base_values) < near * whole.base_stddevs).all()
    np.testing.assert_allclose(parts.base_stddevs, whole.base_stddevs, rtol=0.3)
    for name in ('identification', 'validation'):
        one, other = getattr(whole, name), getattr(parts, name)
        assert other.samples == one.samples == 9000
        np.testing.assert_allclose(other.rms_error, one.rms_error, rtol=1e-3)
        np.testing.assert_allclose(
            other.max_relative_torque_error, one.max_relative_torque_error, rtol=0.02
        )
    told = next(item.text for item in parts.findings if item.code == 'long_recording')
    assert '9000 samples' in told and not any(f.code == 'long_recording' for f in whole.findings)


def test_filtered_segments_leave_no_sample_out(case, monkeypatch):
    whole, parts = both(case, monkeypatch, given=False, options=IdentifyOptions())
    # Ends that the filter cuts off overlap by a sample at most.
    assert 0 <= parts.identification.samples - whole.identification.samples <= 4
    assert parts.filter_cutoff == pytest.approx(whole.filter_cutoff)
    assert parts.success
    assert (np.abs(parts.base_values - whole.base_values) < 0.5 * whole.base_stddevs).all()


def test_memory_does_not_grow_with_the_recording(case, monkeypatch):
    monkeypatch.setattr(module, 'LONGEST', 5000)
    monkeypatch.setattr(module, 'SEGMENT', 1550)
    model, truth = case
    options = IdentifyOptions(consistent='no', time_offset='no')
    peaks = []
    for segments in (8, 16):
        recording = record(model, truth, 1500 * segments, noise=0.02, derivatives=False)
        tracemalloc.start()
        identify(recording, model, options=options)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 8 * 12_000  # the signals of the second half are 13 times that


def resting(noise, *, begin, count=60_000, rate=500.0):
    """Two joints with sines that stop at a sample, and the noise of their encoders."""
    time = np.arange(count) / rate
    running = np.minimum(time, begin / rate)
    position = np.sin(2 * np.pi * np.array([0.2, 0.3]) * running[:, None])
    position += noise * np.random.default_rng(0).normal(size=position.shape)
    return Recording(
        time=time, joints=('a', 'b'), position=position, torque=position, source='resting'
    )


@pytest.mark.parametrize(('noise', 'lowest', 'highest'), [(1e-5, 20.0, 20.0), (2e-3, 2.0, 10.0)])
def test_a_rest_does_not_raise_the_cutoff(monkeypatch, noise, lowest, highest):
    monkeypatch.setattr(module, 'LONGEST', 30_000)
    monkeypatch.setattr(module, 'SEGMENT', 20_000)
    found = [
        module.segments_of(resting(noise, begin=begin), ('a', 'b'), IdentifyOptions())
        for begin in (60_000, 40_000)  # the last third rests
    ]
    cutoffs = [each.shown.cutoff for each in found]
    assert lowest <= cutoffs[0] <= highest
    assert cutoffs[1] == pytest.approx(cutoffs[0], rel=0.1)
