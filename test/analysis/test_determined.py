# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.analysis.determined import assess_recording
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.recording import Recording

OPTIONS = IdentifyOptions()


def unlimited(joints, seed):
    """Return a URDF whose ratings are small, so that the torque of the motion counts."""
    return random_urdf(joints, seed, types=('revolute',)).replace('effort="100', 'effort="0.1')


@pytest.fixture(scope='module')
def moved():
    xml = unlimited(3, 42)
    truth, values = arm(xml)
    return robot_model(xml, friction=['auto']), truth, values


def words(joints):
    return [each['verdict'] for each in joints.values()]


@pytest.mark.parametrize(
    ('noise', 'word'), [(0.02, 'usable'), (0.45, 'with care'), (3.0, 'not usable')]
)
def test_the_expected_error_is_that_of_the_noise_after_the_low_pass(moved, noise, word):
    model, truth, values = moved
    recording = record(truth, values, 3000, noise=noise, derivatives=False, rate=100.0)
    joints, _, _ = assess_recording(recording, model, OPTIONS)
    clean = record(truth, values, 3000, derivatives=False, rate=100.0).torque
    rest = recording.torque - clean
    assert words(joints) == [word] * 3
    for k, each in enumerate(joints.values()):
        # white noise goes through the low pass of the fit with a share of its power
        share = np.sqrt(np.mean(rest[:, k] ** 2) / np.mean(clean[:, k] ** 2))
        assert each['expected_error'] < 1.1 * share + 0.02
        assert each['expected_error'] > 0.3 * share / np.sqrt(1.0 + share**2)
        assert bool(each['reason']) == (word != 'usable')


def test_a_joint_at_rest_has_the_verdict_that_an_identification_gives_it(moved):
    model, truth, values = moved
    recording = record(truth, values, 3000, noise=0.01, derivatives=False, rate=100.0)
    still = recording.position.copy()
    still[:, 0] = 0.3
    velocity = np.gradient(still, recording.time, axis=0)
    torque = truth.torque(still, velocity, np.gradient(velocity, recording.time, axis=0), values)
    torque += np.random.default_rng(1).normal(0.0, 0.01, torque.shape)
    joints, parameters, findings = assess_recording(
        Recording(recording.time, recording.joints, still, torque), model, OPTIONS
    )
    assert words(joints) == ['with care'] * 3
    first, *others = joints.values()
    assert first['reason'] == 'idle: constant torque' and np.isnan(first['expected_error'])
    assert {each['reason'] for each in others} == {'holds only while idle joints stay'}
    assert {each['monitoring'] for each in others} == {'usable'}
    assert first['coverage'] == 0.0 and parameters['from the prior'] > 0
    assert 'rank_deficient' in [item.code for item in findings]


def test_a_small_motion_determines_less(moved):
    model, truth, values = moved
    found = {}
    for size in (0.02, 1.0):
        recording = record(truth, values, 3000, derivatives=False, rate=100.0, size=size)
        noise = np.random.default_rng(2).normal(0.0, 0.05, recording.torque.shape)
        recording = replace(recording, torque=recording.torque + noise)
        found[size] = assess_recording(recording, model, OPTIONS)
    errors = {
        size: [each['expected_error'] for each in joints.values()]
        for size, (joints, _, _) in found.items()
    }
    assert (np.array(errors[0.02]) > 2.0 * np.array(errors[1.0])).all()
    assert found[0.02][1]['determined'] < found[1.0][1]['determined']
    coverage = [
        np.array([each['coverage'] for each in joints.values()]) for joints, _, _ in found.values()
    ]
    np.testing.assert_allclose(50.0 * coverage[0], coverage[1], rtol=0.05)


def test_too_few_samples_are_a_finding(moved):
    model, truth, values = moved
    recording = record(truth, values, 15, derivatives=False, rate=100.0)
    joints, parameters, findings = assess_recording(recording, model, OPTIONS)
    assert words(joints) == ['not usable'] * 3 and not parameters
    assert 'too_few_samples' in [item.code for item in findings if item.severity == 'error']
