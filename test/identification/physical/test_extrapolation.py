# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.extrapolation import torque_uncertainty
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.recording.recording import Recording

MODEL, TRUTH = arm(random_urdf(2, 5, types=('revolute',)))
BASE = base_parameters(MODEL)


def moment(speed):
    """Identify a joint from 1.2 s of a motion with an angular frequency, in [rad/s]."""
    model, truth = arm(random_urdf(1, 3, types=('revolute',)))
    time = np.arange(600) / 500.0
    sine, cosine = np.sin(speed * time)[:, None], np.cos(speed * time)[:, None]
    q, qd, qdd = 0.3 * sine, 0.3 * speed * cosine, -0.3 * speed**2 * sine
    torque = model.torque(q, qd, qdd, truth)
    torque = torque + 0.02 * np.abs(torque).max() * np.random.default_rng(0).normal(size=(600, 1))
    brief = Recording(time=time, joints=model.joint_names, position=q, torque=torque)
    return identify(brief, model, options=IdentifyOptions(prior='none'))


def test_a_fit_to_a_moment_is_for_feed_forward_with_care():
    """Thresholds of the monitor are learned on its motions."""
    (joint,) = moment(3.0).verdict.joints
    assert joint.feedforward.word == 'with care' and joint.monitoring.word == 'usable'
    assert 'expected error on other motions' in joint.feedforward.reasons[-1]


def test_a_moment_in_one_direction_is_not_usable_and_no_gravity_is_missing():
    """Coulomb friction is an offset there, and the weight of the arm nearly so."""
    result = moment(0.8)
    codes = {item.code for item in result.findings if item.severity == 'error'}
    assert codes == {'rank_deficient'} and not result.success


@pytest.fixture(scope='module')
def moved():
    model, truth = arm(random_urdf(2, 5, types=('revolute',)))
    signals = process(record(model, truth, 1500, noise=0.05), model.joint_names, IdentifyOptions())
    base = base_parameters(model)
    factors = condense(model, signals.motion, signals.torque, signals.used, base.columns).factors
    return model, base, estimate(factors, base.rank), signals


def test_it_is_the_spread_of_torques_of_drawn_parameters(moved):
    model, base, fit, signals = moved
    random = np.random.default_rng(1)
    unit = random.uniform(-1.0, 1.0, size=(3, 400, 2))
    fastest = [np.abs(values).max() for values in (signals.velocity, signals.acceleration)]
    states = (np.pi * unit[0], fastest[0] * unit[1], fastest[1] * unit[2])
    regressor = model.regressor(*states)[:, :, base.columns]
    draws = random.multivariate_normal(fit.values, fit.covariance, size=300)
    torque = regressor @ fit.values
    spread = regressor @ draws.T - torque[:, :, None]
    expected = np.sqrt(np.mean(spread**2, axis=(0, 2)) / np.mean(torque**2, axis=0))
    found = torque_uncertainty(model, base, fit, signals)
    np.testing.assert_allclose(found, expected, rtol=0.15)
