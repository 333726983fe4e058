from dataclasses import replace

import numpy as np
import pytest

from robodyn_ros.identification.signals.grid import measured, on_grid, sample_times
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


def test_a_robot_at_rest_tells_nothing_about_its_stamps():
    even, stamps = uneven()
    recording = recorded(stamps, np.zeros(COUNT))
    np.testing.assert_allclose(sample_times(recording), even, atol=1e-12)


@pytest.mark.parametrize('lost', [1, 30])
def test_missing_samples_are_interpolated_and_long_gaps_marked(lost):
    time = np.delete(np.arange(COUNT) / RATE, slice(628, 628 + lost))
    uniform, gaps, findings = on_grid(recorded(time, time))
    assert len(uniform) == COUNT and uniform.period == pytest.approx(1.0 / RATE)
    assert gaps.sum() == (lost if lost > 2 else 0)
    assert [item.code for item in findings] == ['interpolated']


def test_the_times_of_another_signal_can_be_used():
    even, stamps = uneven()
    uniform, _, _ = on_grid(recorded(stamps, even), stamps)
    assert np.abs(uniform.position - motion(uniform.time)).max() > 3e-3


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
    kept, findings = measured(held(np.arange(1200, COUNT)))
    assert len(kept) == 1200 and [item.code for item in findings] == ['held_samples']
    assert '300 of 1500 samples' in findings[0].text


def test_short_repeats_at_standstill_are_left_alone():
    recording = held(np.array([200, 201, 700, 701]))
    assert measured(recording) == (recording, ())


def test_messages_sent_more_often_than_measured_are_thinned():
    rows = np.setdiff1d(np.arange(COUNT), np.arange(0, COUNT, 2))
    kept, _ = measured(held(rows))
    np.testing.assert_allclose(kept.time, np.arange(0, COUNT, 2) / RATE)


def test_zero_torque_that_is_held_means_that_drives_are_off():
    recording = held(np.arange(1200, COUNT))
    torque = np.array(recording.torque)
    torque[1199:] = 0.0
    off = Recording(
        time=recording.time, joints=recording.joints, position=recording.position, torque=torque
    )
    _, (found,) = measured(off)
    assert found.code == 'drives_off' and found.severity == 'warning' and '14.99 s' in found.text
    torque[1199:1380] = 1.0
    _, (found,) = measured(replace(off, torque=torque))  # zero in 120 of 300 samples
    assert found.code == 'held_samples'
