# SPDX-License-Identifier: Apache-2.0
"""Torque that is late: of all joints, of one, from one moment on, or behind a filter."""

import numpy as np
import pytest
from diagnosis_case import first, found, late, plant, torque
from scipy.signal import lfilter


@pytest.mark.parametrize(('name', 'samples'), [('scara', 6), ('scara', -6), ('six_axis', 24)])
def test_torques_of_all_joints(name, samples):
    """A long delay is no low pass either."""
    item = first(name, lambda each: late(each, samples))
    assert item.code == 'sensor_delay' and 'of all joints' in item.text, item.text
    shown = float(item.text.split(' come ')[1].split(' ms')[0])
    assert shown == pytest.approx(5.0 * abs(samples), abs=6.0)
    assert f'{"after" if samples > 0 else "before"} the positions' in item.text


@pytest.mark.parametrize(('name', 'joint', 'samples'), [('scara', 0, -12)])
def test_the_torque_of_one_joint(name, joint, samples):
    item = first(name, lambda each: late(each, samples, [joint]))
    assert (item.code, item.joint) == ('sensor_delay', f'joint{joint + 1}'), item.text
    shown = float(item.text.split(' comes ')[1].split(' ms')[0])
    assert shown == pytest.approx(5.0 * abs(samples), abs=10.0)
    assert ('after' if samples > 0 else 'before') + ' its position' in item.text


@pytest.mark.parametrize(('name', 'share'), [('six_axis', 0.5), ('scara', 0.7), ('scara3', 0.5)])
def test_a_delay_from_one_moment_on(name, share):
    item = first(name, lambda each: late(each, 37, start=round(share * len(each.torque))))
    assert item.code == 'delay_changes', item.text
    shown = float(item.text.split(' is ')[1].split(' ms')[0])
    assert shown == pytest.approx(185.0, abs=15.0)
    moment = float(item.text.split(' after ')[1].split(' s ')[0])
    duration = plant(name)[1].time[-1]
    assert moment == pytest.approx(share * duration, abs=0.1 * duration)


@pytest.mark.parametrize('name', ['scara', 'scara3', 'axis'])
def test_torque_behind_a_low_pass(name):
    def filtered(recording):
        pole = np.exp(-2.0 * np.pi * 2.0 * recording.period)
        start = recording.torque[:1] * pole
        values, _ = lfilter([1.0 - pole], [1.0, -pole], recording.torque, axis=0, zi=start)
        return torque(recording, values)

    item = first(name, filtered)
    assert item.code == 'torque_filtered' and 'about 2 Hz' in item.text, item.text


def test_a_recording_without_a_delay_has_none():
    model, recording = plant('scara3')
    assert not found(model, late(recording, 1))


@pytest.mark.parametrize(('joint', 'samples'), [(0, 6), (1, 5)])
def test_the_short_delay_of_one_joint_is_likely(joint, samples):
    item = first('scara', lambda each: late(each, samples, [joint]))
    assert (item.code, item.joint) == ('convention_doubtful', f'joint{joint + 1}')
    assert f'comes {5 * samples} ms after its position' in item.text, item.text
