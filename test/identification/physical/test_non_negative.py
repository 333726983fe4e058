# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import scipy.linalg

from robodyn_ros.identification.physical.non_negative import is_definite, move_to_possible
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.closed_forms.closed_form import closed_form_part

LENGTHS = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7, 'h_O': 0.1}
DELTA = {'kind': 'delta', 'dynamic_model': 1, 'joints': list('abcd'), 'geometry': LENGTHS}
SHAFT = [8, 6, 7, 5]


def move(values):
    model = build_model({**DELTA, 'friction': ['viscous']})
    base = base_parameters(model)
    definite = np.array(
        [is_definite(closed_form_part(model)[0], each) for each in model.parameters]
    )
    return model, base, move_to_possible(base, definite, SHAFT, values)


def robot(rng):
    """Parameters of a robot that can exist: M_T L_TO, M_T L_TP and the inertia suit M_T."""
    theta_ab, lever, rods, spread, plate, shaft, across, along = rng.uniform(0.05, 1.0, 8)
    upper, lower = rng.uniform(-0.3, 0.3, 2)
    inertia = shaft * (upper**2 + lower**2) + 2.0 * across
    rest = rng.uniform(0.01, 0.5, 4)
    body = [shaft, shaft * upper, shaft * lower, inertia, along, 0.01]
    return np.array([theta_ab, lever, rods, spread, plate, *body, *rest])


@pytest.mark.parametrize('seed', range(20))
def test_what_has_the_torque_of_a_robot_becomes_a_robot_of_the_same_torque(seed):
    rng = np.random.default_rng(seed)
    truth = robot(rng)
    model, base, unchanged = move(truth)
    np.testing.assert_array_equal(unchanged, truth)
    directions = scipy.linalg.null_space(base.grouping)
    aside = truth + directions @ rng.normal(scale=3.0, size=directions.shape[1])
    moved = move(aside)[2]
    np.testing.assert_allclose(base.values(moved), base.values(truth), atol=1e-9)
    named = closed_form_part(model)[0].compute_named(moved[:11])
    masses_and_inertias = np.delete(named[:8], 1)  # the arm may have a counterweight
    assert masses_and_inertias.min() >= 0.0


def test_what_no_robot_has_stays_as_it_is():
    values = robot(np.random.default_rng(0))
    values[SHAFT[0]] = 0.01 * values[SHAFT[1]] ** 2  # too little for any mass on the line
    assert move(values)[2] is None
