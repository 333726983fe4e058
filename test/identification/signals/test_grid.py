# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest

from robodyn_ros.identification.signals.grid import drop_repeated, on_grid, sample_times
from robodyn_ros.recording.recording import Recording

RATE, COUNT = 100.0, 1500


def motion(time):
    return np.column_stack([np.sin(2.0 * time), 0.7 * np.cos(3.1 * time), np.zeros_like(time)])


def recorded(stamps, taken):
    """Recording with these stamps of a motion that was sampled at other times."""
    position = np.round(motion(taken), 5)
    return Recording(time=stamps, joints=('a', 'b', 'c'), position=position, torque=position)


def uneven(seed=0):
    """Equal steps, each off by up to a third of a period."""
    even = np.arange(COUNT) / RATE
    off = np.random.default_rng(seed).uniform(-0.33, 0.33, COUNT) / RATE
    off[[0, -1]] = 0.0
    return even, even + off


def test_jitter_of_the_transport_is_taken_for_equal_steps():
    even, stamps = uneven()
    recording = recorded(stamps, even)
    np.testing.assert_allclose(sample_times(recording), even, atol=1e-12)
    uniform, gaps, findings = on_grid(recording)
    np.testing.assert_array_equal(uniform.position, recording.position)
    assert not gaps.any() and not findings


def test_uneven_stamps_are_believed_where_they_make_the_motion_smooth():
    even, stamps = uneven()
    recording = recorded(stamps, stamps)
    np.testing.assert_array_equal(sample_times(recording), stamps)
    uniform, gaps, findings = on_grid(recording)
    assert not gaps.any() and [item.code for item in findings] == ['interpolated']
    error = np.abs(uniform.position - motion(uniform.time)).max(axis=0)
    assert error.max() < 2e-5  # equal steps: 6e-3
    assert np.abs(uniform.torque - motion(uniform.time)).max() < 1e-3  # linear in between
    assert np.abs(recording.position - motion(even)).max() > 5e-3


@pytest.mark.parametrize('lost', [1, 30])
def test_missing_samples_are_interpolated_and_long_gaps_marked(lost):
    time = np.delete(np.arange(COUNT) / RATE, slice(628, 628 + lost))
    uniform, gaps, findings = on_grid(recorded(time, time))
    assert len(uniform) == COUNT and uniform.period == pytest.approx(1.0 / RATE)
    assert gaps.sum() == (lost if lost > 2 else 0)
    assert [item.code for item in findings] == ['interpolated']


def test_the_motor_side_is_put_on_the_same_grid():
    _, stamps = uneven()
    recording = replace(
        recorded(stamps, stamps), motor_position=motion(stamps) + 0.1, gear_ratio=np.ones(3)
    )
    uniform, _, _ = on_grid(recording)
    assert np.abs(uniform.motor_position - uniform.position - 0.1).max() < 2e-5


def held(rows):
    """Recording whose samples in these rows repeat all values of the sample before."""
    time = np.arange(COUNT) / RATE
    index = np.arange(COUNT)
    index[rows] = -1
    index = np.maximum.accumulate(index)
    torque = motion(time)[index]
    return Recording(
        time=time, joints=('a', 'b', 'c'), position=motion(time)[index], torque=torque
    )


def test_samples_without_new_values_are_no_measurements():
    kept, findings = drop_repeated(held(np.arange(1200, COUNT)))
    assert len(kept) == 1200 and [item.code for item in findings] == ['held_samples']
    assert '300 of 1500 samples' in findings[0].text


def test_short_repeats_at_standstill_are_left_alone():
    recording = held(np.array([200, 201, 700, 701]))
    assert drop_repeated(recording) == (recording, ())


def test_messages_sent_more_often_than_measured_are_thinned():
    rows = np.setdiff1d(np.arange(COUNT), np.arange(0, COUNT, 2))
    uniform, gaps, _ = on_grid(held(rows))
    np.testing.assert_allclose(uniform.time, np.arange(2, COUNT, 2) / RATE)
    np.testing.assert_allclose(uniform.position, motion(uniform.time), atol=1e-12)
    assert not gaps.any()


def polled(late, every=13, rate=350.0, seconds=12.0):
    """Recording of a drive that measures in each 13th cycle, torque some cycles after position."""
    time = np.arange(int(rate * seconds)) / rate
    rows = np.arange(len(time))
    position, torque = (
        motion(time)[np.maximum((rows - shift) // every * every + shift, 0)] for shift in (0, late)
    )
    return Recording(time=time, joints=('a', 'b', 'c'), position=position, torque=torque)


@pytest.mark.parametrize('late', [0, 1, 5])
def test_signals_measured_at_other_instants_have_the_times_of_their_own_measurements(late):
    uniform, gaps, _ = on_grid(polled(late))
    assert uniform.period == pytest.approx(13 / 350.0, rel=3e-3) and not gaps.any()
    expected = motion(uniform.time)
    assert np.abs(uniform.position - expected).max() < 1e-3
    # A line between measurements: a ninth of the error of a value that is held.
    assert np.abs(uniform.torque - expected).max() < 2e-3


def test_zero_torque_that_is_held_means_that_drives_are_off():
    recording = held(np.arange(1200, COUNT))
    torque = np.array(recording.torque)
    torque[1199:] = 0.0
    off = Recording(
        time=recording.time, joints=recording.joints, position=recording.position, torque=torque
    )
    _, (found,) = drop_repeated(off)
    assert found.code == 'drives_off' and found.severity == 'warning' and '14.99 s' in found.text
    torque[1199:1380] = 1.0
    _, (found,) = drop_repeated(replace(off, torque=torque))  # zero in 120 of 300 samples
    assert found.code == 'held_samples'
