# SPDX-License-Identifier: Apache-2.0
import mujoco
import numpy as np
import pytest
from robots import random_states, random_urdf

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ModelError
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model, model_hash, robot_model
from robodyn_ros.models.friction import body_of
from robodyn_ros.models.interface import Joint
from robodyn_ros.models.springs import SPRING_TERMS, SpringModel

JOINTS = (Joint('a'), Joint('b', 'prismatic'))
XML = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="a" axis="0 0 1"
stiffness="7" springref="20"/><geom size="0.1"/><body pos="0 0 1"><joint name="b" type="slide"
stiffness="30" springref="0.2"/><geom size="0.1"/></body></body></worldbody></mujoco>"""


def test_torsion_springs_are_those_of_mujoco():
    """The motor holds what the spring pulls: minus the passive force of MuJoCo."""
    spec = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(spec)
    q = random_states(2, 20)[0]
    model = SpringModel(joints=JOINTS, terms=['spring'])
    offset = np.array([-7.0 * np.deg2rad(20.0), -30.0 * 0.2])
    for row in q:
        data.qpos[:] = row
        mujoco.mj_forward(spec, data)
        torque = model.torque(row[None], row[None], row[None], np.array([7.0, 30.0]))[0] + offset
        np.testing.assert_allclose(torque, -data.qfrc_passive, atol=1e-12)


def test_a_balancer_is_a_sine_about_any_position():
    model = SpringModel(joints=JOINTS[:1], terms=['balancer'])
    q = np.linspace(-3.0, 3.0, 50)[:, None]
    values = 40.0 * np.array([np.cos(0.3), -np.sin(0.3)])
    np.testing.assert_allclose(model.torque(q, q, q, values), 40.0 * np.sin(q - 0.3), atol=1e-12)


def test_regressor_and_single_samples_agree_with_the_torque():
    model = SpringModel(joints=JOINTS, terms=list(SPRING_TERMS))
    q, qd, qdd = random_states(2, 30)
    values = np.random.default_rng(1).normal(size=6)
    torque = model.torque(q, qd, qdd, values)
    np.testing.assert_allclose(model.regressor(q, qd, qdd) @ values, torque, atol=1e-14)
    at = model.torque_function(values)
    np.testing.assert_allclose([at(*row) for row in zip(q, qd, qdd, strict=True)], torque)


@pytest.mark.parametrize(
    ('joints', 'terms', 'said'),
    [
        ((), ['spring'], 'at least one joint'),
        (JOINTS, [], 'at least one joint and one term'),
        (JOINTS, ['coil'], "got 'coil'"),
        (JOINTS, ['spring', 'spring'], 'each once'),
        (JOINTS, ['balancer', 'balancer_sine'], 'each once'),
    ],
)
def test_wrong_springs_are_refused(joints, terms, said):
    with pytest.raises(ModelError, match=said):
        SpringModel(joints=joints, terms=terms)


def robot(friction):
    return robot_model(random_urdf(3, 5, types=('revolute',)), friction=friction)


def test_springs_stand_beside_friction_and_come_back_from_a_description():
    model = robot(['linear', 'balancer'])
    again = build_model(model.describe())
    assert model_hash(again) == model_hash(model)
    kinds = [part['kind'] for part in model.describe()['parts']]
    assert kinds == ['urdf', 'springs', 'friction']
    assert [part['kind'] for part in [body_of(model).describe()]] == ['urdf']
    alone = robot(['spring'])
    assert [part['kind'] for part in alone.describe()['parts']] == ['urdf', 'springs']


def test_what_gravity_imitates_is_no_base_parameter_of_its_own():
    """A link's weight on a horizontal axis is a sine too: nothing can tell them apart."""
    plain, sprung = (
        base_parameters(robot(terms)) for terms in (['linear'], ['linear', 'balancer'])
    )
    assert plain.rank < sprung.rank < plain.rank + 6


def test_no_drive_adds_springs_as_gravity():
    model, plain = robot(['linear', 'balancer']), robot(['linear'])
    values = np.random.default_rng(3).normal(size=len(model.parameters))
    names = [item.name for item in plain.parameters]
    own = np.array([item.name in names for item in model.parameters])
    torque, without = ModelTorque(model, values), ModelTorque(plain, values[own])
    springs = torque.body(*random_states(3, 8)) - without.body(*random_states(3, 8))
    for each in (torque, without):
        each.exclude_gravity([True, False, True])
    left = torque.body(*random_states(3, 8)) - without.body(*random_states(3, 8))
    np.testing.assert_allclose(left, springs, atol=1e-10)
    assert np.abs(springs).max() > 0.1


@pytest.mark.parametrize('key', ['smoothing', 'load'])
def test_springs_alone_have_nothing_of_friction(key):
    with pytest.raises(ModelError, match=f"springs without friction have no '{key}'"):
        robot({'terms': ['spring'], key: [1.0]})
