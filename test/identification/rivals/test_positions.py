# SPDX-License-Identifier: Apache-2.0
"""Zeros of encoders, degrees and turns of the motor, on plants."""

import re
from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import first, found, moved, one, plant


def offsets_of(item):
    """Return the offset of each joint that a finding names, in [deg]."""
    pairs = re.findall(r'(joint\d) (-?[\d.]+) deg', item.text)
    return {joint: float(value) for joint, value in pairs}


@pytest.mark.parametrize(
    ('name', 'joint', 'degrees'),
    [
        ('six_axis', 1, 90.0),
        ('scara3', 1, 90.0),
        ('scara3', 1, 30.0),
        ('delta3', 1, 30.0),
        ('axis', 0, 90.0),
        ('axis', 0, 30.0),
    ],
)
def test_the_zero_of_one_joint(name, joint, degrees):
    item = first(name, lambda each: moved(each, offset=np.deg2rad(one(each, joint, degrees, 0.0))))
    assert (item.code, item.joint) == ('encoder_offset', f'joint{joint + 1}'), item.text
    shown = offsets_of(item)[item.joint]
    if name in ('scara3', 'axis'):  # without masses in the model, half a turn further is the same
        shown %= 180.0
    assert len(offsets_of(item)) == 1 and shown == pytest.approx(degrees, abs=6.0)
    assert 'subtract' in item.remedy and f'{item.joint}' in item.remedy


@pytest.mark.parametrize(
    ('name', 'planted'),
    [('delta3', [30.0, -45.0, 0.0]), ('six_axis', [0.0, 30.0, 30.0, 0.0, 0.0, 0.0])],
)
def test_the_zeros_of_two_joints(name, planted):
    """A fit absorbs those of the six axes: only the masses of the URDF tell."""
    item = first(name, lambda each: moved(each, offset=np.deg2rad(planted)))
    assert item.code == 'encoder_offset', item.text
    assert offsets_of(item) == {
        f'joint{k + 1}': pytest.approx(value, abs=5.0) for k, value in enumerate(planted) if value
    }


def test_zeros_of_vertical_axes_cannot_be_seen():
    """The first vertical axis turns the complete robot; so does the last one of a SCARA."""
    model, recording = plant('scara')
    turned = moved(recording, offset=np.deg2rad([90.0, 0.0, 0.0, 70.0]))
    assert not found(model, turned)


@pytest.mark.parametrize('name', ['six_axis', 'scara3'])
def test_positions_in_degrees(name):
    def degrees(recording):
        rotary = np.where(np.arange(len(recording.joints)) == 2, name == 'six_axis', True)
        return moved(recording, np.where(rotary, 180.0 / np.pi, 1.0))

    item = first(name, degrees)
    assert item.code == 'positions_in_degrees' and 'radians' in item.remedy, item.text


@pytest.mark.parametrize(('name', 'joint', 'sign'), [('six_axis', 2, 1.0), ('scara3', 1, -1.0)])
def test_the_position_of_a_motor_that_another_joint_carries(name, joint, sign):
    def coupled(recording):
        mixed = np.eye(len(recording.joints))
        mixed[joint - 1, joint] = sign
        return replace(recording, position=recording.position @ mixed, velocity=None)

    item = first(name, coupled)
    assert item.code == 'position_coupling', item.text
    word = 'plus' if sign > 0.0 else 'minus'
    assert f'position of joint{joint + 1} is that of the joint {word}' in item.text


def test_the_position_of_a_motor_that_holds_the_joint_after():
    def coupled(recording):
        mixed = np.eye(len(recording.joints))
        mixed[2, 1] = 1.0
        return replace(recording, position=recording.position @ mixed, velocity=None)

    item = first('six_axis', coupled)
    assert item.code == 'position_coupling', item.text
    assert 'position of joint2 is that of the joint plus that of joint3' in item.text
    assert 'compute the position of joint2 minus that of joint3' in item.remedy


@pytest.mark.parametrize(('name', 'joint', 'sign'), [('six_axis', 2, 1.0), ('scara3', 1, -1.0)])
def test_position_and_torque_of_motors_where_a_belt_runs_past_a_joint(name, joint, sign):
    def coupled(recording):
        mixed, torque = np.eye(len(recording.joints)), np.array(recording.torque)
        mixed[joint - 1, joint] = sign
        torque[:, joint - 1] -= sign * torque[:, joint]
        return replace(recording, position=recording.position @ mixed, torque=torque)

    item = first(name, coupled)
    assert item.code == 'position_coupling' and item.text.startswith('Positions and torques')
    word = 'plus' if sign > 0.0 else 'minus'
    assert f'position of joint{joint + 1} is that of the joint {word}' in item.text
    assert f'torque of joint{joint} {word} that of joint{joint + 1}' in item.remedy  # as above


@pytest.mark.parametrize(
    ('name', 'joint', 'ratio'),
    [('scara', 1, 100.0), ('scara3', 1, 50.0)]
    + [('six_axis', joint, ratio) for joint in (1, 2) for ratio in (0.5, 1.0 / np.pi, 1.5, 2.0)],
)
def test_the_position_of_a_motor_or_some_times_that_of_the_joint(name, joint, ratio):
    item = first(name, lambda each: moved(each, one(each, joint, ratio)))
    assert (item.code, item.joint) == ('position_factor', f'joint{joint + 1}'), item.text
    shown = float(item.text.split(' is ')[1].split(' times')[0])
    assert shown == pytest.approx(ratio, rel=0.08) and 'gear ratio' in item.remedy
