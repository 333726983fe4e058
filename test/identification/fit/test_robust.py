# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from scipy import integrate, stats
from simulation import arm, base_values, record

from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.robust import (
    robust_fit,
    slope,
    weight,
)
from robodyn_ros.identification.options import LOSSES, IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.recording.recording import Recording


def pushed(recording, seed=0, size=3.0):
    """The same recording with pushes in 4 % of each joint's samples."""
    random, torque = np.random.default_rng(seed), np.array(recording.torque)
    for joint in range(torque.shape[1]):
        for start in random.integers(0, len(torque) - 50, len(torque) // 1250):
            torque[start : start + 50, joint] += size * np.std(torque[:, joint])
    names = ('time', 'position', 'velocity', 'acceleration')
    signals = {name: getattr(recording, name) for name in names}
    return Recording(joints=recording.joints, torque=torque, source='pushed', **signals)


@pytest.fixture(scope='module')
def case():
    model, truth = arm(random_urdf(3, 70, types=('revolute',)))
    return model, truth, record(model, truth, 5000, noise=0.02)


@pytest.mark.parametrize('loss', LOSSES)
def test_with_normal_residuals_it_is_95_percent_as_good_as_least_squares(loss):
    def mean(function):
        return integrate.quad(lambda u: function(u) * stats.norm.pdf(u), -9.0, 9.0, limit=200)[0]

    variance = mean(lambda u: (weight(np.array(u), loss) * u) ** 2)
    variance /= mean(lambda u: slope(np.array(u), loss)) ** 2
    assert 1.0 / variance == pytest.approx(0.95, abs=0.002)
    u = np.linspace(-8.0, 8.0, 4001)
    numeric = np.gradient(weight(u, loss) * u, u)
    smooth = np.abs(numeric - slope(u, loss)) < 2e-2
    assert smooth.mean() > 0.998  # but for the corners of Huber's


@pytest.mark.filterwarnings('error')
def test_a_joint_without_torque_has_no_residual(case):
    model, _, recording = case
    motion = (recording.position, recording.velocity, recording.acceleration)
    columns = base_parameters(model).columns
    used = np.ones(recording.torque.shape, dtype=bool)
    condensed = condense(model, motion, 0.0 * recording.torque, used, columns)
    fit = robust_fit(condensed.sample, np.zeros(len(columns)), 'tukey')
    np.testing.assert_allclose(fit.values, 0.0, atol=1e-9)
    assert (fit.spread > 0.0).all() and (fit.gross == 0.0).all()


@pytest.mark.parametrize('loss', LOSSES)
def test_pushes_have_no_say(case, loss):
    model, truth, recording = case
    expected = base_values(model, truth)
    options = {
        name: IdentifyOptions(estimator=name, loss=loss, consistent='no')
        for name in ('wls', 'robust')
    }
    clean = identify(recording, model, options=options['wls'])
    error = {
        name: np.linalg.norm(
            (identify(pushed(recording), model, options=each).base_values - expected)
            / clean.base_stddevs
        )
        for name, each in options.items()
    }
    assert error['robust'] < (0.1 if loss == 'tukey' else 0.35) * error['wls']


def test_standard_deviations_are_those_of_the_good_samples(case):
    model, _, recording = case
    # Without a prior there is one candidate, and no spread between several.
    options = IdentifyOptions(estimator='robust', consistent='no', prior='none')
    wls = replace(options, estimator='wls')
    clean = identify(recording, model, options=wls).base_stddevs
    found = identify(pushed(recording), model, options=options)
    ratio = found.base_stddevs / clean  # 4 % fewer samples, 95 % of their worth
    assert 0.95 < np.median(ratio) < 1.15
    assert any(item.code == 'outliers' for item in found.findings)


def test_a_recording_too_long_to_be_kept_is_read_again(case, monkeypatch):
    model, _, recording = case
    options = IdentifyOptions(estimator='robust', consistent='no')
    whole = identify(pushed(recording), model, options=options)
    monkeypatch.setattr('robodyn_ros.identification.factors.row_sample.MOST', 1000)
    monkeypatch.setattr('robodyn_ros.identification.factors.row_sample.LENGTH', 500)
    part = identify(pushed(recording), model, options=options)
    difference = np.abs(part.base_values - whole.base_values) / whole.base_stddevs
    assert 0.0 < difference.max() < 0.5
