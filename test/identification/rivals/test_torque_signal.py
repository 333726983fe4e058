# SPDX-License-Identifier: Apache-2.0
"""Torque that was lost, of two sources, without sign, wrapped, cut off or disturbed."""

import flaws
import numpy as np
import pytest
from diagnosis_case import ROBOTS, constant, found, plant, torque


def first(name, change):
    model, recording = plant(name)
    named = found(model, change(recording))
    assert named, 'nothing is named'
    return named[0]


PARTS = {
    'last 10 %': (0.9, 1.0, None, 0.0),
    'last 20 %': (0.8, 1.0, None, 0.0),
    'last 30 %': (0.7, 1.0, None, 0.0),
    'middle': (0.45, 0.55, None, 0.0),
    'one joint': (0.5, 0.7, [0], 0.0),
    'frozen': (0.3, 0.5, [0], None),
}


@pytest.mark.parametrize('part', PARTS)
@pytest.mark.parametrize('name', ['scara3', 'delta3', 'axis'])
def test_lost_torque(name, part):
    start, end, joints, value = PARTS[part]
    item = first(name, lambda each: constant(each, start, end, joints, value))
    assert item.code == 'torque_lost' and item.severity == 'error', item.text
    share = float(item.text.split(' in ')[1].split('%')[0])
    assert share == pytest.approx(100.0 * (end - start), abs=1.5)
    shown = item.text.partition(' between ')[2].split(' s')
    begins, ends = float(shown[0]), float(shown[1].removeprefix(' and '))
    duration = plant(name)[1].time[-1]
    assert begins == pytest.approx(start * duration, abs=0.03 * duration)
    assert ends == pytest.approx(end * duration, abs=0.03 * duration)
    assert (item.joint == 'joint1') == (joints is not None or name == 'axis')


@pytest.mark.parametrize('name', ['scara', 'scara3', 'delta3', 'axis'])
def test_a_publisher_without_torque_beside_the_right_one(name):
    random = np.random.default_rng(4)

    def mixed(recording):
        values = np.array(recording.torque)
        values[random.uniform(size=len(values)) < 0.4] = 0.0
        return torque(recording, values)

    item = first(name, mixed)
    assert item.code == 'two_sources' and 'one publisher' in item.remedy, item.text
    assert 20.0 < float(item.text.split(' zero in ')[1].split('%')[0]) < 45.0


@pytest.mark.parametrize('name', ['six_axis'])
def test_torque_without_its_sign(name):
    item = first(name, lambda each: torque(each, np.abs(each.torque)))
    assert item.code == 'torque_unsigned' and 'direction bit' in item.remedy, item.text


@pytest.mark.parametrize('name', ['scara', 'scara3', 'axis'])
def test_signed_torque_that_was_read_as_unsigned(name):
    def wrapped(recording):
        unit = np.abs(recording.torque).max(axis=0) / 1000.0
        return torque(recording, np.round(recording.torque / unit) % 65536 * unit)

    item = first(name, wrapped)
    assert item.code == 'torque_wrapped' and 'signed integer' in item.remedy, item.text


@pytest.mark.parametrize('name', ['six_axis', 'scara3'])
def test_a_contact_is_a_disturbed_interval(name):
    def touched(recording):
        values, count = np.array(recording.torque), round(1.0 / recording.period)
        pulse = np.sin(np.pi * np.arange(count) / count)[:, None]
        values[1500 : 1500 + count] += 1.5 * pulse * values.std(axis=0)
        return torque(recording, values)

    item = first(name, touched)
    assert item.code == 'disturbed_interval', item.text
    shown = item.text.partition(' between ')[2].split(' s')
    assert float(shown[0]) == pytest.approx(7.5, abs=0.7)
    assert float(shown[1].removeprefix(' and ').split()[0]) == pytest.approx(8.5, abs=0.7)


@pytest.mark.parametrize(('name', 'level'), [('scara3', 0), ('delta3', 1), ('six_axis', 2)])
def test_torque_that_ends_at_a_limit(name, level):
    """The drive's current is limited, and measured with noise."""
    case = flaws.flawed('saturation', ROBOTS[name], 43, level)
    (item,) = found(case.model, case.recording)
    assert (item.code, item.joint) == ('torque_saturation', case.joint), item.text
    share, joint = (0.75, 0.6, 0.45)[level], case.robot.joints.index(case.joint)
    largest = np.abs(case.recording.torque[:, joint]).max() / share
    shown = float(item.text.split(' stops at ')[1].split(' ')[0])
    assert shown == pytest.approx(share * largest, rel=0.15)


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_torque_that_ends_at_a_limit_on_one_side_only_is_not_lost(side):
    def limited(recording):
        values = side * np.array(recording.torque)
        values[:, 0] = np.minimum(values[:, 0], np.quantile(values[:, 0], 0.8))
        return torque(recording, side * values)

    item = first('six_axis', limited)
    assert item.code == 'torque_saturation', item.text


def test_torque_of_two_directions_of_a_slow_joint_is_no_wrapped_number():
    """Friction has two groups of values then, with few between."""
    model, recording = plant('scara3', 45)
    assert not found(model, recording.slice(slice(700, 1500)))


def test_torque_in_coarse_steps_is_not_lost():
    def stepped(recording):
        step = np.abs(recording.torque).max(axis=0) / 4.0
        return torque(recording, np.round(recording.torque / step) * step)

    model, recording = plant('six_axis')
    assert 'torque_lost' not in [item.code for item in found(model, stepped(recording))]
