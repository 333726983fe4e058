# SPDX-License-Identifier: Apache-2.0
"""Masses of the URDF as a witness: what they say of a reading, and what only they show."""

from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import found, moved, one, plant, reading_of, scaled, torque
from real_machines import data_folder
from robots import SIX_AXIS, UR10

from robodyn_ros.identification.rivals.evidence import ROUGH, agreement, roughness
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.readers import read_recording


def ur10():
    """Model of the UR10, whose URDF has good masses, and a recording of it."""
    model = robot_model(UR10)
    return model, read_recording(data_folder('ur10'), joints=model.joint_names)


def exact(model):
    """Recording whose torques are exactly those of the URDF."""
    recording = plant('six_axis')[1]
    rate = np.gradient(recording.position, recording.time, axis=0)
    push = np.gradient(rate, recording.time, axis=0)
    values = np.nan_to_num(model.prior())
    given = model.torque(recording.position, rate, push, values)
    return torque(recording, given)


@pytest.fixture(scope='module')
def model():
    return robot_model(SIX_AXIS)


@pytest.fixture(scope='module')
def present(model):
    return reading_of(model, exact(model)).present


def test_torques_of_the_urdf_differ_by_nothing(present):
    assert present.masses.max() < 0.01
    assert roughness(present.masses) == ROUGH


def test_friction_rotors_and_offsets_are_no_difference(model):
    recording = exact(model)
    rate = np.gradient(recording.position, recording.time, axis=0)
    push = np.gradient(rate, recording.time, axis=0)
    size = recording.torque.std(axis=0)
    more = 0.5 * size * (rate / rate.std(axis=0) + np.sign(rate) + push / push.std(axis=0) + 1.0)
    other = reading_of(model, torque(recording, recording.torque + more)).present
    assert other.masses.max() < 0.02


@pytest.mark.parametrize('factor', [2.0, 5.0])
def test_a_factor_counts_as_much_as_its_inverse(present, factor):
    change = np.array([1.0, factor, 1.0, 1.0, 1.0, 1.0])
    more, less = (present.scale(each).masses[1] for each in (change, 1.0 / change))
    square = (factor - 1.0) ** 2
    assert more == pytest.approx(less, rel=0.1)
    assert more == pytest.approx(square / (square + factor), rel=0.1)


def test_a_model_without_masses_has_no_say():
    scara = reading_of(*plant('scara')).present
    assert not scara.masses.any() and agreement(scara.masses, scara.masses) == 0.0


def test_rough_masses_say_less():
    present, corrected = np.full(6, 0.6), np.array([0.05, 0.6, 0.6, 0.6, 0.6, 0.6])
    good = np.array([0.6, 0.01, 0.01, 0.01, 0.01, 0.01])
    clear, rough = agreement(good, np.full(6, 0.01)), agreement(present, corrected)
    assert clear > 2.0 > 1.0 > rough > 0.0


@pytest.mark.parametrize('factor', [2.0, 0.5])
def test_a_factor_that_only_the_masses_show(factor):
    model, recording = ur10()
    (item,) = found(model, scaled(recording, one(recording, 2, factor)))
    assert (item.code, item.joint) == ('torque_factor', 'elbow_joint'), item.text


def test_torques_in_millinewtonmetres():
    model, recording = ur10()
    item = found(model, scaled(recording, np.full(6, 1000.0)))[0]
    assert item.code == 'torque_factor' and 'mNm' in item.text and item.severity == 'error'


@pytest.mark.parametrize(('joints', 'degrees'), [([1], 30.0), ([1, 2], 30.0)])
def test_zeros_that_a_fit_absorbs(joints, degrees):
    model, recording = ur10()
    planted = np.deg2rad(one(recording, joints, degrees, 0.0))
    item = found(model, moved(recording, offset=planted))[0]
    assert item.code == 'encoder_offset' and 'masses of the URDF' in item.text, item.text


@pytest.mark.parametrize('factor', [2.0, 1000.0])
def test_times_that_inertia_absorbs(factor):
    model, recording = ur10()
    late = replace(recording, time=factor * recording.time, velocity=None, acceleration=None)
    item = found(model, late)[0]
    assert item.code == 'time_scale', item.text


def test_torque_without_gravity():
    """A driver that subtracts gravity: the fit is as good, and finds no masses."""
    model, recording = ur10()
    still = np.zeros_like(recording.position)
    weight = model.torque(recording.position, still, still, np.nan_to_num(model.prior()))
    item = found(model, torque(recording, recording.torque - weight))[0]
    assert item.code == 'effort_without_gravity', item.text
