# SPDX-License-Identifier: Apache-2.0
"""Order, sign and factor of torques, reversed axes, gravity, mounting and time, on plants."""

from dataclasses import replace

import flaws
import numpy as np
import pytest
from diagnosis_case import (
    ROBOTS,
    exchanged,
    first,
    found,
    moved,
    one,
    plant,
    scaled,
    torque,
)

from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.recording import Recording


def told(item, *joints):
    """Return True if a finding names these joints and no other one."""
    every = {f'joint{k}' for k in range(1, 7)}
    text = item.text.partition(' With that corrected')[0]
    return {each for each in every if each in text} == set(joints)


@pytest.mark.parametrize(
    ('name', 'pair', 'names', 'words'),
    [
        ('six_axis', (1, 2), False, 'torques of joint2 and joint3'),
        ('six_axis', (0, 1), True, 'names of joint1 and joint2'),
        ('scara3', (0, 2), False, 'torques of joint1 and joint3'),
        ('delta3', (0, 1), False, 'torques of joint1 and joint2'),
    ],
)
def test_exchanged_torques_and_names(name, pair, names, words):
    item = first(name, lambda each: exchanged(each, *pair, names))
    assert item.code == 'joint_order' and item.severity == 'error'
    assert f'{words} are exchanged' in item.text, item.text


@pytest.mark.parametrize('name', ['six_axis', 'delta3'])
def test_three_torques_in_another_order(name):
    def moved_on(recording):
        order = np.arange(len(recording.joints))
        order[:3] = 1, 2, 0
        return torque(recording, recording.torque[:, order])

    item = first(name, moved_on)
    words = 'joint1 to joint3' if name == 'delta3' else 'joint1, joint2 and joint3'
    assert item.code == 'joint_order' and f'torques of {words} are' in item.text, item.text


def test_names_of_equal_arms_of_a_delta_may_be_exchanged():
    """The robot is its own mirror image: no torque tells the arms apart."""
    model, recording = plant('delta3')
    assert not found(model, exchanged(recording, 0, 1, True))


@pytest.mark.parametrize(
    ('name', 'joints'),
    [
        ('scara', [1]),
        ('scara3', [0]),
        ('delta3', [2]),
        ('six_axis', [1, 3]),
        ('delta3', [0, 1]),
    ],
)
def test_signs_of_one_torque_and_of_two(name, joints):
    item = first(name, lambda each: scaled(each, one(each, joints, -1.0)))
    assert item.code == 'torque_sign', item.text
    assert told(item, *(f'joint{k + 1}' for k in joints)), item.text


@pytest.mark.parametrize('name', ['scara', 'delta3', 'axis', 'lift'])
def test_sign_of_all_torques(name):
    item = first(name, lambda each: scaled(each, -np.ones(len(each.joints))))
    assert item.code == 'torque_sign' and 'torques of all joints' in item.text, item.text


@pytest.mark.parametrize(
    ('name', 'joints'), [('six_axis', [1]), ('delta3', [1]), ('scara3', [0]), ('six_axis', [1, 2])]
)
def test_reversed_axes(name, joints):
    """Two of the six axes are parallel: a mounting upside down would explain a part of it."""

    def turned(recording):
        sign = one(recording, joints, -1.0)
        return scaled(moved(recording, sign), sign)

    item = first(name, turned)
    assert item.code == 'axis_reversed' and 'the other way' in item.text, item.text
    assert told(item, *(f'joint{k + 1}' for k in joints)), item.text


@pytest.mark.parametrize(('name', 'joint'), [('delta3', 1), ('scara3', 1)])
def test_a_reversed_position(name, joint):
    item = first(name, lambda each: moved(each, one(each, joint, -1.0)))
    assert item.code == 'axis_reversed' and 'its torque has not' in item.text, item.text
    assert told(item, f'joint{joint + 1}')


@pytest.mark.parametrize('factor', [2.0, 0.5])
@pytest.mark.parametrize(('name', 'joint'), [('scara', 1), ('delta3', 0)])
def test_a_factor_of_one_torque(name, joint, factor):
    item = first(name, lambda each: scaled(each, one(each, joint, factor)))
    assert (item.code, item.joint) == ('torque_factor', f'joint{joint + 1}'), item.text
    shown = float(item.text.split(' is ')[1].split(' times')[0])
    assert shown == pytest.approx(factor, rel=0.1) and '2 pi' in item.text


@pytest.mark.parametrize('joint', [1, 2])
def test_a_factor_of_one_torque_in_a_small_motion(joint):
    case = flaws.Case(ROBOTS['six_axis'], 44, kind='fourier', rate=200.0)
    case.swing, case.frequency = 0.2 * case.swing, case.frequency / np.sqrt(0.2)
    recording, _ = flaws.record(case)
    item = found(case.robot.model, scaled(recording, one(recording, joint, 3.0)))[0]
    assert (item.code, item.joint) == ('torque_factor', f'joint{joint + 1}'), item.text
    assert not found(case.robot.model, recording)


@pytest.mark.parametrize('speed', [1.0, 1.6])
def test_torque_without_gravity(speed):
    """The URDF asks for torque at rest that the driver has subtracted; fast or slow."""
    case = flaws.Case(ROBOTS['six_axis'], 44, kind='fourier', rate=200.0)
    case.frequency = speed * case.frequency
    recording, _ = flaws.record(case)
    still = np.zeros_like(recording.position)
    gravity = case.robot.rigid(recording.position, still, still)
    item = found(case.robot.model, torque(recording, recording.torque - gravity))[0]
    assert item.code == 'effort_without_gravity', item.text
    share = float(item.text.split('finds ')[1].split('%')[0])
    assert share < 30.0 and 'gravity' in item.remedy


@pytest.mark.parametrize('part', [0.85, 0.9])
def test_torque_from_which_most_of_gravity_was_subtracted_is_not_in_another_unit(part):
    """The drive has its own masses, which are not exactly those of the URDF."""
    case = flaws.Case(ROBOTS['six_axis'], 44, kind='fourier', rate=200.0)
    recording, _ = flaws.record(case)
    still = np.zeros_like(recording.position)
    gravity = case.robot.rigid(recording.position, still, still)
    item = found(case.robot.model, torque(recording, recording.torque - part * gravity))[0]
    assert item.code == 'effort_without_gravity', item.text


def test_gravity_in_another_direction():
    model, recording = plant('six_axis')
    item = found(ROBOTS['six_axis'].wrong[0], recording)[0]
    assert item.code == 'wrong_dynamic_model' and 'mounted upright' in item.text, item.text
    assert not found(model, recording)


def test_another_dynamic_model_of_a_closed_form():
    _, recording = plant('axis')
    item = found(ROBOTS['axis'].wrong[0], recording)[0]
    assert item.code == 'wrong_dynamic_model' and 'dynamic model 3' in item.text, item.text


def test_times_in_another_unit():
    factor = 0.5
    model, recording = plant('six_axis')
    item = found(model, replace(recording, time=factor * recording.time))[0]
    assert item.code == 'time_scale', item.text
    shown = float(item.text.split('about ')[1].split(' times')[0])
    assert shown == pytest.approx(factor, rel=0.15)


def test_a_factor_of_all_torques_cannot_be_seen():
    """Masses and friction scale with it, and those of a URDF are often guesses."""
    model, recording = plant('six_axis')
    assert not found(model, scaled(recording, np.full(6, 1.7)))


@pytest.mark.parametrize('mass', [0.4, 10.0])
def test_the_guessed_mass_of_a_single_joint_is_no_unit_of_its_torque(mass):
    """One factor of the torque suits the mass of one joint always."""
    time = np.arange(0.0, 25.0, 0.005)
    turn = 2.0 * np.pi * np.array([[0.17], [0.29], [0.43]]) * time + [[0.3], [1.1], [2.0]]
    rate = 2.0 * np.pi * np.array([[0.17], [0.29], [0.43]])
    q, qd, qdd = np.sin(turn), rate * np.cos(turn), -(rate**2) * np.sin(turn)
    q, qd, qdd = (each.sum(axis=0)[:, None] for each in (q, qd, qdd))
    true = pendulum(2.0)
    values = true.torque(q, qd, qdd, np.nan_to_num(true.prior()))
    values += 0.3 * np.sign(qd) + 0.1 * qd
    noise = 0.05 * np.random.default_rng(3).normal(size=values.shape)
    recording = Recording(time, true.joint_names, q, values + noise, source='pendulum')
    assert not found(pendulum(mass), recording)


def pendulum(mass):
    """A single joint in gravity, with a link of a mass."""
    return robot_model(f"""<robot name="p"><link name="base"/><link name="arm"><inertial>
<origin xyz="0.2 0 0"/><mass value="{mass}"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0"
ixz="0" iyz="0"/></inertial></link><joint name="joint1" type="revolute"><parent link="base"/>
<child link="arm"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="50" velocity="5"/>
</joint></robot>""")
