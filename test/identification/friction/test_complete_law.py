# SPDX-License-Identifier: Apache-2.0
"""Terms and shape coefficients of a friction that is not specified."""

from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import record

from robodyn_ros.errors import InsufficientData
from robodyn_ros.identification.average.candidates import EVERY
from robodyn_ros.identification.friction.complete_law import complete_friction
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.catalog import robot_model, with_friction

URDF = random_urdf(3, 83, types=('revolute',))
BODY = robot_model(URDF, friction=())
OWN = np.nan_to_num(BODY.prior(), nan=0.3)
LAW = {'terms': ['smooth', 'load'], 'smoothing': [0.08, 0.2, 0.12], 'load': OWN.tolist()}
OPTIONS = IdentifyOptions()


@pytest.fixture(scope='module')
def signals():
    """Signals of a robot with tanh friction that grows with the load."""
    model = with_friction(BODY, LAW)
    values = np.concatenate([OWN, np.tile([1.0, 4.0, 0.3, 0.15], 3)])
    given = {'noise': 0.02, 'derivatives': False, 'resolution': 1e-5}
    return process(record(model, values, 4000, seed=1, **given), model.joint_names, OPTIONS)


def friction_of(model):
    """Describe the friction and the springs of a model, by term."""
    return {k: v for part in model.describe()['parts'][1:] for k, v in part.items()}


def terms_of(model):
    return {item.name.partition('.')[2] for item in model.parameters if 'joint1.' in item.name}


def test_smoothing_and_load_are_found_and_every_law_has_its_terms(signals):
    model = complete_friction(robot_model(URDF, friction='auto'), signals, OPTIONS, EVERY)
    described = friction_of(model)
    np.testing.assert_allclose(described['smoothing'], LAW['smoothing'], rtol=0.25)
    load = np.abs(BODY.torque(*signals.motion, np.array(described['load'])))
    expected = np.abs(BODY.torque(*signals.motion, OWN))
    assert np.linalg.norm(load - expected) < 0.1 * np.linalg.norm(expected)
    assert {
        'coulomb_friction', 'medium_slip_friction', 'load_friction', 'root_friction',
        'viscous_asymmetry', 'spring_stiffness',
    } <= terms_of(model)  # fmt: skip


def test_a_law_without_its_coefficients_gets_them_and_no_other_terms(signals):
    named = robot_model(URDF, friction=['smooth', 'load'])
    model = complete_friction(named, signals, OPTIONS, EVERY)
    np.testing.assert_allclose(friction_of(model)['smoothing'], LAW['smoothing'], rtol=0.25)
    assert terms_of(model) >= {'smooth_coulomb_friction', 'load_friction'}
    assert not terms_of(model) & {'coulomb_friction', 'root_friction', 'spring_stiffness'}


def test_a_model_that_has_its_friction_stays(signals):
    for model in (robot_model(URDF), BODY):
        assert complete_friction(model, signals, OPTIONS, EVERY) is model


def test_no_friction_depends_on_the_load_where_the_body_loads_no_gear():
    """The torque of the rotor and a light horn is so small that it imitates any friction."""
    urdf = random_urdf(1, 5, types=('revolute',))
    light = robot_model(urdf)
    sizes = {'rotor_inertia': 0.02, 'viscous_friction': 2.0, 'coulomb_friction': 3.0}
    values = [sizes.get(item.name.partition('.')[2], 0.0) for item in light.parameters]
    recording = record(light, np.array(values), 4000, seed=1, noise=0.3, derivatives=False)
    given = process(recording, light.joint_names, OPTIONS)
    model = complete_friction(robot_model(urdf, friction='auto'), given, OPTIONS, EVERY)
    assert 'medium_slip_friction' in terms_of(model)
    assert 'load_friction' not in terms_of(model)


def test_few_samples_get_linear_friction_and_none_are_refused(signals):
    auto = robot_model(URDF, friction='auto')
    few, none = signals.used.copy(), np.zeros_like(signals.used)
    few[300:] = False
    model = complete_friction(auto, replace(signals, used=few), OPTIONS, EVERY)
    assert terms_of(model) == terms_of(robot_model(URDF))
    with pytest.raises(InsufficientData, match='no joint has a moving sample'):
        complete_friction(auto, replace(signals, used=none), OPTIONS, EVERY)
