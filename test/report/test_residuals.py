# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.report.residuals import autocorrelation, residuals


def test_autocorrelation_is_that_of_the_definition():
    values = np.random.default_rng(1).normal(size=400)
    centred = values - values.mean()
    every = np.correlate(centred, centred, 'full')[399:]
    np.testing.assert_allclose(autocorrelation(values, 20), every[:21] / every[0], atol=1e-12)
    assert not autocorrelation(np.ones(10), 3).any()


def test_histogram_counts_every_sample(source):
    rows = residuals(source.signals, source.model.joints)
    assert [row['name'] for row in rows] == ['joint1', 'joint2']
    for row, error in zip(rows, source.signals.error.T, strict=True):
        assert sum(row['share']) == pytest.approx(1.0)
        assert row['std'] == pytest.approx(error.std()) and row['correlation'][0] == 1.0
