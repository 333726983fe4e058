# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf
from simulation import arm

from robodyn_ros.identification.physical.completion import complete, parameter_stddevs
from robodyn_ros.models.base_parameters import base_parameters


@pytest.fixture(scope='module')
def case():
    model, truth = arm(random_urdf(4, 2, types=('revolute',)))
    return model, truth, base_parameters(model)


def covariance_of(base, seed=0):
    root = np.random.default_rng(seed).normal(size=(base.rank, base.rank))
    return root @ root.T


def test_completion_keeps_the_torque_and_is_consistent(case):
    model, truth, base = case
    covariance = covariance_of(base)
    done = complete(model, base, base.values(truth), covariance, 0.7 * truth)
    assert done.physically_consistent and not done.findings
    states = np.random.default_rng(1).normal(size=(3, 50, 4))
    expected = model.torque(*states, truth)
    np.testing.assert_allclose(model.torque(*states, done.values), expected, atol=1e-8)


def test_inconsistent_values_are_completed_with_a_finding(case):
    model, truth, base = case
    wrong = np.array(truth)
    names = [item.name for item in model.parameters]
    wrong[names.index('link4.Izz')] -= 50.0
    wrong[names.index('joint4.rotor_inertia')] = 0.0
    done = complete(model, base, base.values(wrong), covariance_of(base), truth)
    assert not done.physically_consistent
    assert [item.code for item in done.findings] == ['not_physically_consistent']
    np.testing.assert_allclose(base.values(done.values), base.values(wrong), atol=1e-8)


def test_standard_deviations_by_shifting_along_what_torque_does_not_show(case):
    # Whatever is added from the null space of K leaves the torque as it is: a parameter that
    # such an addition changes has no standard deviation, any other has one.
    _, _, base = case
    stddevs = parameter_stddevs(base, covariance_of(base))
    right = np.linalg.svd(base.grouping)[2][base.rank :]
    changed = np.abs(right).max(axis=0) > 1e-9
    np.testing.assert_array_equal(np.isnan(stddevs), changed)
