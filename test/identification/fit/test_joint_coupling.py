# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, base_values, sines

from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.joint_coupling import (
    decouple,
)
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.models.base_parameters import base_parameters

MIX = np.array([[1.0, 0.0, 0.0], [0.9, 0.3, 0.0], [0.5, 0.5, 0.2]])
"""Errors of the joints are MIX @ independent ones."""


def data(seed, samples=900, gaps=False):
    model, values = arm(random_urdf(3, 3, types=('revolute',)))
    _, *motion = sines(3, samples)
    random = np.random.default_rng(seed)
    torque = model.torque(*motion, values) + random.normal(size=(samples, 3)) @ MIX.T
    used = random.uniform(size=torque.shape) < 0.7 if gaps else np.ones(torque.shape, dtype=bool)
    base = base_parameters(model)
    found = condense(model, tuple(motion), torque, used, base.columns, coupled=True)
    regressor = model.regressor(*motion)[:, :, base.columns]
    return found, regressor, torque, used, base_values(model, values)


def normal_equations(regressor, torque, used, omega):
    """Solve Eq. 24 sample by sample, each with the covariance of the joints that count."""
    width = regressor.shape[2]
    left, right = np.zeros((width, width)), np.zeros(width)
    for rows, tau, counts in zip(regressor, torque, used, strict=True):
        own = counts if counts.all() else None
        weight = np.linalg.inv(omega) if own is not None else np.diag(counts / np.diag(omega))
        left += rows.T @ weight @ rows
        right += rows.T @ weight @ tau
    return np.linalg.solve(left, right)


@pytest.mark.parametrize('gaps', [False, True])
def test_it_is_equation_24_with_its_own_residuals_covariance(gaps):
    condensed, regressor, torque, used, _ = data(0, gaps=gaps)
    coupled = decouple(condensed, estimate(condensed.factors, condensed.width))
    fit = estimate(coupled.condensed.factors, condensed.width)
    residual = (torque - regressor @ fit.values)[used.all(axis=1)]
    omega = residual.T @ residual
    omega *= 0.999 + 0.001 * np.eye(3)  # slightly shrunk
    expected = normal_equations(regressor, torque, used, omega / len(residual))
    spread = 0.05 if not gaps else 0.3  # weights of samples that lack a joint are their own
    assert (np.abs(fit.values - expected) < spread * fit.stddevs).all()
    size = np.sqrt(np.diag(omega))
    np.testing.assert_allclose(coupled.correlation, omega / np.outer(size, size), atol=0.01)


def test_factors_of_the_joints_alone_are_the_same_with_and_without():
    model, values = arm(random_urdf(3, 3, types=('revolute',)))
    _, *motion = sines(3, 500)
    torque = model.torque(*motion, values)
    used = np.random.default_rng(0).uniform(size=torque.shape) < 0.8
    used[:, 1] = False  # a joint at rest
    columns = base_parameters(model).columns
    arguments = (model, tuple(motion), torque, used, columns)
    apart = condense(*arguments).factors
    for one, other in zip(condense(*arguments, coupled=True).factors, apart, strict=True):
        assert one.samples == other.samples
        a, b = (np.column_stack(factor.rows(len(columns))) for factor in (one, other))
        np.testing.assert_allclose(a.T @ a, b.T @ b, atol=1e-9 * np.abs(b.T @ b).max(initial=1.0))
