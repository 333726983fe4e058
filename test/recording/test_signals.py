# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import (
    central_differences,
    check_cutoff,
    low_pass,
    split_motion,
    trim_standstill,
    white_noise,
)

RATE = 500.0
TIME = np.arange(5000) / RATE


def recording(time=TIME, frequency=1.0):
    q = np.stack([np.sin(2 * np.pi * frequency * time), np.cos(2 * np.pi * time)], axis=1)
    return Recording(time, ('a', 'b'), q, 3 * q, velocity=2 * q, acceleration=4 * q)


@pytest.mark.parametrize('frequency', [2.0, 20.0, 60.0])
def test_the_gain_is_that_of_butterworth_twice(frequency):
    wave = np.sin(2 * np.pi * frequency * TIME)
    filtered = low_pass(wave, 20.0, RATE)[1000:-1000]
    phasor = np.exp(-2j * np.pi * frequency * TIME[1000:-1000])
    gain = np.vdot(phasor.conj(), filtered) / np.vdot(phasor.conj(), wave[1000:-1000])
    warped = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * 20.0 / RATE)
    assert abs(gain) == pytest.approx(1.0 / (1.0 + warped**8), abs=1e-3)
    assert abs(gain.imag) < 1e-3  # zero phase


def test_straight_lines_pass_to_their_ends():
    line = np.stack([3.0 - 2.0 * TIME, np.full_like(TIME, 7.0)], axis=1)
    np.testing.assert_allclose(low_pass(line, 5.0, RATE), line, atol=1e-4)


def test_ends_of_a_wave_are_not_ruined():
    wave = np.sin(2 * np.pi * 0.5 * TIME + 0.7)
    assert np.abs(low_pass(wave, 10.0, RATE) - wave).max() < 5e-3


def test_too_few_samples_for_a_low_pass():
    with pytest.raises(
        RecordingError, match='at 1 Hz needs more than 1500 samples at 500 Hz, got 6'
    ):
        low_pass(np.arange(6.0), 1.0, RATE)
    assert len(low_pass(np.arange(1501.0), 1.0, RATE)) == 1501


@pytest.mark.parametrize(
    'cutoff, rate, message',
    [
        (0.0, 1000.0, 'must be positive, got 0 Hz'),
        (np.nan, 1000.0, 'must be positive'),
        (125.0, 4000.0, 'must be below 125 Hz, got 125 Hz'),
        (30.0, 125.0, 'at most a fifth of the sampling rate of 125 Hz, got 30 Hz'),
    ],
)
def test_cutoffs_that_cannot_be_used(cutoff, rate, message):
    with pytest.raises(RecordingError, match=message):
        check_cutoff(cutoff, rate)


def test_differences_are_exact_for_parabolas_on_unequal_steps():
    time = np.cumsum(np.random.default_rng(0).uniform(0.5, 2.0, 100)) * 1e-2
    values = np.stack([1 + 2 * time - 3 * time**2, time], axis=1)
    expected = np.stack([2 - 6 * time, np.ones(100)], axis=1)
    np.testing.assert_allclose(central_differences(values, time), expected, atol=1e-10)
    with pytest.raises(RecordingError, match='at least 3 samples, got 2'):
        central_differences(values[:2], time[:2])


def motion_with_standstill(before, after, noise=0.0, resolution=0.0):
    time = np.arange(int((before + 10.0 + after) * RATE)) / RATE
    turn = 2 * np.pi * np.clip(time - before, 0.0, 10.0)
    q = np.stack([np.sin(0.5 * turn) ** 2, np.zeros_like(turn), 1e-3 * np.sin(turn)], axis=1)
    q += noise * np.random.default_rng(0).normal(size=q.shape) * [1.0, 1.0, 1e-3]
    if resolution:
        q = resolution * np.round(q / resolution)
    return Recording(time, ('a', 'b', 'c'), q, 3 * q, velocity=2 * q, acceleration=4 * q)


@pytest.mark.parametrize(('before', 'after'), [(2.0, 5.0), (0.0, 3.0)])
@pytest.mark.parametrize(
    'blur', [{}, {'noise': 1e-4}, {'noise': 1e-4, 'resolution': 2e-5}, {'resolution': 1e-4}]
)
def test_standstill_around_a_motion_is_cut_off(before, after, blur):
    whole = motion_with_standstill(before, after, **blur)
    cut = trim_standstill(whole)
    assert cut.time[0] == pytest.approx(before, abs=0.1)
    assert cut.time[-1] == pytest.approx(before + 10.0, abs=0.1)
    first, last = np.searchsorted(whole.time, cut.time[[0, -1]])
    rows = slice(first, last + 1)
    for name in ('position', 'torque', 'velocity', 'acceleration'):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name)[rows])
    (found,) = cut.findings
    ends = cut.time[0] - whole.time[0], whole.time[-1] - cut.time[-1]
    assert found.code == 'standstill_cut'
    assert f'of {ends[0]:.3g} s before and {ends[1]:.3g} s after' in found.text


def test_two_encoder_steps_are_no_motion():
    q = 1e-4 * np.round(0.01 * np.sin(2 * np.pi * np.clip(TIME - 5.0, 0.0, 5.0)) / 1e-4)
    q[1000:1003] = [1e-4, 2e-4, 1e-4]
    whole = Recording(TIME, ('a',), q[:, None], q[:, None])
    assert trim_standstill(whole).time[0] == pytest.approx(5.0, abs=0.1)


def test_standstill_within_a_motion_stays():
    q = np.interp(TIME, [0, 2, 8, 10], [0.0, 1.0, 1.0, 0.0])[:, None]
    whole = Recording(TIME, ('a',), q, q)
    cut = trim_standstill(whole)
    assert len(whole) - len(cut) < 0.05 * RATE


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('noise', [0.0, 1e-4])
def test_a_recording_without_any_motion_stays_as_it_is(noise):
    q = 0.3 + noise * np.random.default_rng(0).normal(size=(5000, 2))
    whole = Recording(TIME, ('a', 'b'), q, q)
    assert trim_standstill(whole) is whole
    two = whole.slice(slice(0, 2))
    assert trim_standstill(two) is two


def test_both_parts_of_a_split_motion_move():
    first, rest = split_motion(motion_with_standstill(1.0, 9.0, noise=1e-5), 0.8)
    assert first.duration == pytest.approx(8.0, abs=0.1)
    assert rest.duration == pytest.approx(2.0, abs=0.1)
    assert np.ptp(rest.position[:, 0]) > 0.9
    with pytest.raises(RecordingError, match='a fraction between 0 and 1'):
        split_motion(recording(), 1.5)


def test_white_noise_is_that_on_a_smooth_signal():
    random = np.random.default_rng(1)
    signal = np.sin(0.01 * np.arange(20_000)) + 0.05 * random.normal(size=20_000)
    assert white_noise(signal) == pytest.approx(0.05, rel=0.05)
    np.testing.assert_allclose(
        white_noise(np.stack([signal, 2.0 * signal], axis=1)), [0.05, 0.1], rtol=0.05
    )
