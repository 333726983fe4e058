# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
import yaml
from payloads import identify_payload
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.payload import PayloadModel

STIFFNESS = 2e4


def double(model, truth, seed, *, share=0.25, samples=7000):
    """A recording whose friction grows with the load, which the gears' deflection shows."""
    plain = record(model, truth, samples, seed=seed, rate=100.0)
    load = plain.torque
    torque = load + share * np.abs(load) * np.tanh(plain.velocity / 0.01)
    size = np.sqrt(np.mean(load**2, axis=0))
    torque = torque + 0.01 * size * np.random.default_rng(seed).normal(size=load.shape)
    motor = plain.position + load / (STIFFNESS * size)
    return replace(
        plain,
        torque=torque,
        velocity=None,
        acceleration=None,
        motor_position=motor,
        gear_ratio=np.full(len(model.joints), 50.0),
    )


@pytest.fixture(scope='module')
def robot():
    return arm(random_urdf(2, 7, types=('revolute',)))


@pytest.fixture(scope='module')
def identified(robot):
    model, truth = robot
    return identify(
        double(model, truth, 1),
        model,
        options=IdentifyOptions(keep_signals=True, gear_torque='rbf'),
        validation=double(model, truth, 2),
    )


def test_errors_fall_on_another_motion(identified):
    found = identified.residual
    assert identified.success, identified.findings
    assert found.torque.kind == 'rbf' and found.torque.gear_ratio.tolist() == [50.0, 50.0]
    less = 1.0 - identified.validation.rms_error / found.validation_without.rms_error
    assert (less > 0.3).all(), less
    assert 'residual_torque' in {finding.code for finding in identified.findings}


def test_the_result_file_gives_the_same_torque_and_is_bound_to_its_model(identified, tmp_path):
    path = tmp_path / 'result.yaml'
    write_result(identified, path)
    loaded = load_identified_model(path)
    sample = [np.full((1, 2), value) for value in (2e-5, 1e-4, 0.4)]
    expected = identified.residual.torque.torque(*sample)
    assert np.abs(expected).max() > 0.0
    np.testing.assert_array_equal(loaded.residual.torque(*sample), expected)
    content = yaml.safe_load(path.read_text())
    content['/**']['ros__parameters']['residual_torque']['limit'][0] = 99.0
    with pytest.raises(IdentificationError, match='residual_torque cannot be used'):
        load_identified_model(content)


def test_a_payload_keeps_the_residual_torque_of_its_arm(robot, identified, tmp_path):
    model, truth = robot
    write_result(identified, tmp_path / 'base.yaml')
    base = load_identified_model(tmp_path / 'base.yaml')
    payload = PayloadModel(arm=model)
    added = payload.matrix @ ([2.0] + [0.0] * (len(payload.parameters) - 1))
    carrying = double(model, truth + added, 3)
    result = identify_payload(carrying, base)
    write_result(result, tmp_path / 'loaded.yaml', export_failed=True)
    loaded = load_identified_model(tmp_path / 'loaded.yaml')
    sample = [np.full((1, 2), value) for value in (2e-5, 1e-4, 0.4)]
    expected = base.residual.torque(*sample)
    np.testing.assert_array_equal(loaded.residual.torque(*sample), expected)
    blind = identify_payload(replace(carrying, motor_position=None, gear_ratio=None), base)
    error = result.identification.rms_error / blind.identification.rms_error
    assert (error < 0.8).all(), error


def test_without_motor_side_it_is_a_plain_identification(robot):
    model, truth = robot
    plain = replace(double(model, truth, 1), motor_position=None, gear_ratio=None)
    assert identify(plain, model).residual is None
    with pytest.raises(IdentificationError, match='positions of the motors'):
        identify(plain, model, options=IdentifyOptions(gear_torque='gmr'))


def test_deflection_that_tells_nothing_is_left_out(robot):
    model, truth = robot
    result = identify(
        double(model, truth, 1, share=0.0), model, options=IdentifyOptions(gear_torque='rbf')
    )
    assert result.residual is None
    assert 'no_residual_torque' in {finding.code for finding in result.findings}


def test_a_known_gear_torque_gives_the_same_parameters(robot, identified):
    model, truth = robot
    known = identified.residual.torque
    result = identify(double(model, truth, 1), model, known=known)
    assert result.residual is None
    np.testing.assert_allclose(result.base_values, identified.base_values, rtol=1e-9)
    np.testing.assert_allclose(
        result.identification.rms_error, identified.identification.rms_error, rtol=1e-9
    )
