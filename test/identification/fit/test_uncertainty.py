# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.fit.uncertainty import torque_uncertainty
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.base_parameters import base_parameters


@pytest.fixture(scope='module')
def case():
    model, truth = arm(random_urdf(2, 5, types=('revolute',)))
    signals = process(record(model, truth, 1500, noise=0.05), model.joint_names, IdentifyOptions())
    base = base_parameters(model)
    factors = condense(model, signals.motion, signals.torque, signals.used, base.columns).merge()
    return model, base, estimate(factors, base.rank), signals


def test_it_is_the_spread_of_torques_of_drawn_parameters(case):
    model, base, fit, signals = case
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


def test_it_grows_with_the_covariance_and_is_nan_where_nothing_is_seen(case):
    model, base, fit, signals = case
    once = torque_uncertainty(model, base, fit, signals)
    wider = replace(fit, covariance=4.0 * fit.covariance)
    np.testing.assert_allclose(torque_uncertainty(model, base, wider, signals), 2.0 * once)
    blind = replace(fit, covariance=np.full_like(fit.covariance, np.nan))
    assert np.isnan(torque_uncertainty(model, base, blind, signals)).all()
