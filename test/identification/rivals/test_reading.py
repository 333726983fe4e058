# SPDX-License-Identifier: Apache-2.0
"""Recordings as they are read: samples, error of each joint, doubts."""

from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import exchanged, one, plant, reading_of, scaled

from robodyn_ros.identification.rivals.reading import COMPARED, EXACT, plain_model
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.signals import low_pass


@pytest.fixture(scope='module')
def reading():
    return reading_of(*plant('scara3'))


def last_names(model):
    return {item.name.rpartition('.')[2] for item in model.parameters}


def test_samples_are_spread_over_the_recording(reading):
    assert len(reading.rows) == COMPARED == len(reading.present.torque)
    assert (reading.rows[0], reading.rows[-1]) == (0, len(reading.signals) - 1)
    assert np.ptp(np.diff(reading.rows)) <= 1
    np.testing.assert_array_equal(reading.present.torque, reading.signals.torque[reading.rows])
    assert reading.period == pytest.approx(1.0 / 200.0)


def test_a_short_recording_is_compared_in_full():
    model, recording = plant('scara3')
    short = reading_of(model, recording.slice(slice(0, 1000)), filter_cutoff=20.0)
    assert len(short.rows) == len(short.signals) or len(short.rows) == COMPARED


def test_a_healthy_recording_is_not_suspicious(reading):
    rms = np.sqrt(np.mean(reading.present.torque**2, axis=0))
    assert not reading.suspicious
    assert (reading.present.size >= EXACT * rms * (1.0 - 1e-9)).all()
    assert (reading.present.size < 0.1 * rms).all()


@pytest.mark.parametrize(
    'change',
    [
        lambda each: exchanged(each, 0, 1),
        lambda each: scaled(each, one(each, 1, 2.0)),
        lambda each: scaled(each, one(each, 1, -1.0)),
        lambda each: replace(each, torque=each.torque[::-1]),
    ],
)
def test_joints_that_disagree_and_torque_without_a_fit_are_suspicious(change):
    model, recording = plant('scara3')
    assert reading_of(model, change(recording)).suspicious


def test_friction_of_the_model_is_replaced_by_linear_friction():
    """Rich laws and springs absorb flaws."""
    urdf = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="2"/>'
    urdf += '<origin xyz="0.2 0 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" '
    urdf += 'iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="a"/><child '
    urdf += 'link="b"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/>'
    urdf += '</joint></robot>'
    rich = robot_model(urdf, friction='asymmetric_power')
    plain = plain_model(rich)
    assert last_names(plain) < last_names(rich)
    assert last_names(plain) == last_names(robot_model(urdf))
    assert plain_model(plain).parameters == plain.parameters


def test_another_torque_goes_through_the_low_pass_of_the_recording(reading):
    raw = reading.signals.measured + 1.0
    cutoff = max(reading.signals.cutoff, 20.0)
    expected = low_pass(raw, cutoff, 1.0 / reading.period)[reading.rows]
    np.testing.assert_allclose(reading.with_torque(raw).torque, expected)


def test_torque_that_is_zero_has_an_error_that_can_be_divided_by():
    model, recording = plant('scara3')
    dead = reading_of(model, scaled(recording, [1.0, 0.0, 1.0]))
    assert (dead.present.size > 0.0).all() and np.isfinite(dead.present.held_out).all()
