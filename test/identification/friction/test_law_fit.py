# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import record, sines

from robodyn_ros.identification.friction.law_fit import FrictionSearch
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import robot_model, with_friction
from robodyn_ros.models.friction_terms import LAWS

URDF = random_urdf(3, 81, types=('revolute',))
BODY = robot_model(URDF, friction=())
BASE = base_parameters(BODY)
PRIOR = (np.zeros(BASE.rank), np.zeros((BASE.rank,) * 2))
OWN = np.concatenate([np.nan_to_num(BODY.prior(), nan=0.3)])


def arm(friction, amplitudes):
    """Robot with friction that is known, and its values."""
    model = with_friction(BODY, friction)
    return model, np.concatenate([OWN, np.ravel(amplitudes)])


def search_of(model, values, *, samples=4000, seed=1, **options):
    recording = record(model, values, samples, seed=seed, **options)
    signals = process(recording, model.joint_names, IdentifyOptions())
    return FrictionSearch(FrictionSample.of(BODY, BASE, signals), PRIOR), signals


def test_a_law_without_coefficients_is_weighted_least_squares():
    model, values = arm('linear', [[1.0, 2.0, 0.3], [0.5, 3.0, 0.1], [0.4, 1.0, 0.2]])
    search, _ = search_of(model, values, noise=0.05)
    fit = search.fit(LAWS['linear'])
    sample, weights = search.sample, search.weights
    rows, wanted = [], []
    for joint in range(3):
        used = sample.used[:, joint]
        friction = np.zeros((len(used), 9))
        v = sample.speed[:: sample.thinning.stride, joint][: len(used)]
        friction[:, 3 * joint : 3 * joint + 3] = np.column_stack([v, np.sign(v), np.ones(len(v))])
        rows.append(weights[joint] * np.hstack([sample.rigid[:, joint], friction])[used])
        wanted.append(weights[joint] * sample.torque[used, joint])
    expected = np.linalg.lstsq(np.vstack(rows), np.concatenate(wanted), rcond=None)[0]
    np.testing.assert_allclose(fit.rigid_values, expected[: BASE.rank], rtol=1e-4, atol=1e-8)
    assert fit.coefficients == {}
    mean = 2.0 * fit.rigid_values + 1.0
    strong = FrictionSearch(sample, (mean, 1e9 * np.eye(BASE.rank))).fit(LAWS['linear'])
    np.testing.assert_allclose(strong.rigid_values, mean, rtol=1e-3)


def test_smoothing_is_found():
    true = [0.05, 0.15, 0.4]
    amplitudes = [[1.0, 4.0, 0.3], [0.5, 5.0, 0.1], [0.4, 3.0, 0.2]]
    model, values = arm({'terms': 'smooth', 'smoothing': true}, amplitudes)
    search, _ = search_of(model, values, noise=0.02, derivatives=False)
    fit = search.fit(LAWS['smooth'], finer=True)
    np.testing.assert_allclose(fit.coefficients['smoothing'], true, rtol=0.2)


def test_breakaway_speed_is_found_and_bidirectional_friction_is_better_than_linear():
    amplitudes = [[1.0, 3.0, 0.3, 2.0], [0.5, 4.0, 0.1, 3.0], [0.4, 3.0, 0.2, 2.0]]
    true = [0.1, 0.2, 0.3]
    model, values = arm({'terms': 'stribeck', 'breakaway_speed': true}, amplitudes)
    search, _ = search_of(model, values, noise=0.01)
    fit = search.fit(LAWS['stribeck'], finer=True)
    np.testing.assert_allclose(fit.coefficients['breakaway_speed'], true, rtol=0.2)
    rich = {'terms': 'bidirectional', 'smoothing': 0.05, 'threshold': 0.3}
    model, values = arm(rich, np.tile([3.0, 5.0, 4.0, 6.0, 0.2, 0.1, 0.05, 0.1], (3, 1)))
    search, signals = search_of(model, values, noise=0.002)
    fit = search.fit(LAWS['bidirectional'], finer=True)
    linear = search.fit(LAWS['linear'])
    assert (fit.residuals < 0.4 * linear.residuals).all()
    np.testing.assert_allclose(fit.coefficients['smoothing'], 0.05, rtol=0.4)
    np.testing.assert_allclose(fit.coefficients['reach'], np.abs(signals.velocity).max(axis=0))


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('law', ['stribeck', 'bidirectional'])
def test_a_joint_at_rest_disturbs_no_law(law):
    model, values = arm('linear', np.tile([1.0, 2.0, 0.1], (3, 1)))
    _, signals = search_of(model, values)
    still = signals.velocity.copy()
    still[:, 1] = 0.0
    signals = replace(signals, velocity=still)
    search = FrictionSearch(FrictionSample.of(BODY, BASE, signals), PRIOR)
    fit = search.fit(LAWS[law], finer=True)
    assert np.isfinite(fit.residuals).all() and np.isfinite(fit.rigid_values).all()


def test_the_threshold_of_the_bidirectional_law_is_found():
    """Lambda of Eq. 9: friction jumps there, and a threshold beside it fits no better than 0."""
    law = {'terms': 'bidirectional', 'smoothing': 0.05, 'threshold': 0.6}
    model, values = arm(law, np.tile([3.0, 3.0, 2.0, 2.0, 0.2, 0.2, 0.05, 0.05], (3, 1)))
    search, _ = search_of(model, values, samples=8000, noise=0.01)
    fit = search.fit(LAWS['bidirectional'], finer=True)
    np.testing.assert_allclose(fit.coefficients['threshold'], 0.6, rtol=0.06)


def test_known_coefficients_are_kept_and_the_load_is_found_by_the_loops():
    friction = {'terms': ['smooth', 'load'], 'smoothing': 0.1, 'load': OWN.tolist()}
    amplitudes = [[1.0, 2.0, 0.1, 0.1], [0.5, 2.0, 0.1, 0.2], [0.4, 1.0, 0.2, 0.15]]
    model, values = arm(friction, amplitudes)
    search, _ = search_of(model, values, noise=0.01)
    fit = search.fit((*LAWS['smooth'], 'load'), known=[{'smoothing': 0.1}] * 3)
    assert fit.coefficients == {'smoothing': [0.1] * 3}
    _, *motion = sines(3, 500, seed=5)
    expected = BODY.torque(*motion, OWN)
    rigid = BODY.regressor(*motion)[:, :, BASE.columns] @ fit.rigid_values
    assert np.linalg.norm(rigid - expected) < 0.02 * np.linalg.norm(expected)
    np.testing.assert_allclose(fit.load, np.abs(fit.rigid_torque), atol=0.02 * fit.load.max())
