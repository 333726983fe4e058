# SPDX-License-Identifier: Apache-2.0
"""Results of robots that cannot exist are refused, honest results are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from control_arm import six_axis_cell, small_arm
from robots import SIX_AXIS

from robodyn_ros.control.robot_check import NO_DRIVE, check_possible, rated_torque
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import DynamicModel, SumModel
from robodyn_ros.models.payload import Payload, PayloadModel
from robodyn_ros.models.springs import SpringModel

MODEL, VALUES = small_arm()
NAMES = [item.name for item in MODEL.parameters]
EITHER = [{}, {'physically_consistent': True}]


def found(values=VALUES, model: DynamicModel = MODEL, payload=None, **facts) -> IdentifiedModel:
    return IdentifiedModel(
        model, np.asarray(values), np.ones(len(values)), 'hash', payload=payload, facts=facts
    )


def scaled(part: str, factor: float, values=VALUES):
    """Values with those times a factor whose name contains a word."""
    return np.array([
        factor * value if part in name else value
        for name, value in zip(NAMES, values, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize('facts', EITHER)
@pytest.mark.parametrize(
    ('part', 'factor', 'sentence'),
    [
        ('', -1.0, 'is negative'),
        ('', 1e12, 'at rest, its drive has 100'),
        ('', 1e3, 'at rest, its drive has 100'),
        ('', np.nextafter(np.inf, 0.0) / 100.0, 'no robot has these|finite'),
        ('rotor_inertia', -1.0, 'rotor_inertia is negative: -0.5'),
        ('rotor_inertia', 1e4, 'to move, its drive has 100'),
        ('link2.m', -1.0, 'link2.m is negative'),
        ('link2', 1e3, 'joint1 needs .* at rest|joint2 needs .* at rest'),
        ('friction', -1.0, 'friction drives joint'),
        ('viscous_friction', -3.0, 'friction drives joint'),
        ('coulomb_friction', 1e3, 'against friction, its drive has 100'),
    ],
)
def test_a_robot_that_cannot_exist_is_refused(part, factor, sentence, facts):
    check_possible(found(**facts))
    with pytest.raises(ControlError, match=sentence):
        check_possible(found(scaled(part, factor), **facts))


def test_a_body_inside_a_body_that_is_turned_round_is_refused_by_the_mass_matrix():
    inertia = [name for name in NAMES if name.startswith('link2.I')]
    values = np.array([
        -60.0 * value if name in inertia else value
        for name, value in zip(NAMES, VALUES, strict=True)
    ])  # fmt: skip
    with pytest.raises(ControlError, match='the mass matrix is not positive, at joint'):
        check_possible(found(values))


def test_apparent_rotors_of_an_honest_result_are_accepted_but_not_its_negative():
    values = scaled('joint2.rotor_inertia', -0.5)
    with pytest.raises(ControlError, match='rotor_inertia is negative'):
        check_possible(found(values))
    check_possible(found(values, physically_consistent=False))
    for factor in (-1.0, 1e12):
        with pytest.raises(ControlError, match='no robot has these parameters'):
            check_possible(found(factor * values, physically_consistent=False))


def test_effort_limits_that_the_recording_exceeded_are_placeholders():
    values = scaled('', 20.0)
    most = np.abs(MODEL.torque(*np.zeros((3, 1, 2)), values)).max()
    assert most > 100.0
    with pytest.raises(ControlError, match='at rest'):
        check_possible(found(values))
    measured = found(values, usual_torque=[most, most])
    check_possible(measured)
    np.testing.assert_array_equal(rated_torque(measured)[0], [5.0 * most] * 2)
    np.testing.assert_array_equal(rated_torque(found(usual_torque=[9.0, 99.0]))[0], [100.0] * 2)
    for unknown in (None, [float('nan')] * 2):
        with pytest.raises(ControlError, match='at rest'):
            check_possible(found(values, usual_torque=unknown))
    with pytest.raises(ControlError, match='consistent robot'):
        check_possible(found(scaled('', 1e12), usual_torque=[1e12, 1e12]))


def test_the_true_parameters_of_the_six_axis_cell_are_accepted_and_no_others():
    _, torque = six_axis_cell()
    model = found(torque.values, robot_model(SIX_AXIS))
    check_possible(model)
    rotors = np.array(['rotor' in item.name for item in model.model.parameters])
    for factor in (-1.0, 1e3, np.where(rotors, -1.0, 1.0)):
        with pytest.raises(ControlError, match='no robot has these parameters'):
            check_possible(replace(model, values=factor * torque.values))


@pytest.mark.parametrize(
    ('kind', 'values'),
    [
        ({'kind': 'axis', 'type': 'linear', 'joints': ['a'], 'dynamic_model': 1}, [20.0]),
        ({'kind': 'axis', 'type': 'rotary', 'joints': ['a'], 'dynamic_model': 1}, [0.3]),
    ],
)
def test_closed_forms_are_checked_without_effort_limits(kind, values):
    body = build_model(kind)
    model = SumModel(parts=[body, FrictionModel(joints=body.joints)])
    values = np.array([*values, 0.0, 2.0, 3.0, 0.5][-len(model.parameters) :])
    honest = found(values, model)
    check_possible(honest)
    assert rated_torque(honest)[0].tolist() == [NO_DRIVE]
    assert rated_torque(replace(honest, facts={'usual_torque': [4.0]}))[0].tolist() == [20.0]
    for factor in (-1.0, 1e12):
        with pytest.raises(ControlError, match='no robot has these parameters'):
            check_possible(replace(honest, values=factor * values))


def test_springs_and_payloads_count_at_rest():
    springs = SpringModel(joints=MODEL.joints, terms=['spring'])
    model = SumModel(parts=[MODEL, springs])
    check_possible(found([*VALUES, 5.0, -5.0], model))
    with pytest.raises(ControlError, match='at rest'):
        check_possible(found([*VALUES, 0.0, 1e4], model))
    arm = PayloadModel(arm=MODEL)
    for mass, fits in ((1.0, True), (-50.0, False), (1e4, False)):
        point = np.array([mass, mass * 0.5, *[0.0] * 4, 0.25 * mass, 0.0, 0.0, 0.25 * mass])
        carried = found(payload=Payload(arm, point, np.ones(10)))
        if fits:
            check_possible(carried)
            continue
        with pytest.raises(ControlError, match='no robot has these parameters'):
            check_possible(carried)
