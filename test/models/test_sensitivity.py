# SPDX-License-Identifier: Apache-2.0
"""Derivatives of weighted regressor entries, against differences, for every kind of model."""

import numpy as np
import pytest
from robots import LWR4, random_states

from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Joint
from robodyn_ros.models.sensitivity import state_gradient

SCARA = {
    'kind': 'scara',
    'dynamic_model': 1,
    'joints': ['a', 'b', 'c', 'd'],
    'geometry': {'L1': 0.35, 'L2': 0.25},
}
MODELS = {
    'urdf and friction': lambda: robot_model(LWR4),
    'scara': lambda: build_model(SCARA),
    'scara and friction': lambda: build_model(SCARA | {'friction': ['viscous', 'coulomb']}),
}


@pytest.mark.parametrize('name', MODELS)
def test_agrees_with_differences(name):
    model = MODELS[name]()
    states = random_states(len(model.joints), 6)
    shape = model.regressor(*states).shape
    weights = np.random.default_rng(0).normal(size=shape)
    slopes = state_gradient(model)(weights, *states)
    scale = max(np.abs(slope).max() for slope in slopes)
    for quantity, joint in np.ndindex(3, shape[1]):
        sums = []
        for step in (1e-4, -1e-4):
            moved = [value.copy() for value in states]
            moved[quantity][:, joint] += step
            sums.append((model.regressor(*moved) * weights).sum(axis=(1, 2)))
        expected = (sums[0] - sums[1]) / 2e-4
        np.testing.assert_allclose(slopes[quantity][:, joint], expected, atol=1e-5 * scale)


def test_friction_at_rest_has_the_slope_of_its_positive_side():
    model = FrictionModel(joints=[Joint('a')])
    still = np.zeros((1, 1))
    weights = np.array([[[2.0, 100.0, 50.0]]])  # viscous, Coulomb, offset
    by_q, by_qd, by_qdd = state_gradient(model)(weights, still, still, still)
    assert by_qd == pytest.approx(2.0) and by_q == 0.0 and by_qdd == 0.0
