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
from robodyn_ros.models.springs import SPRING_TERMS, SpringModel, slip_state

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


def reversing(samples):
    """Positions, velocities and accelerations of a motion with reversals of many sizes."""
    time = 0.05 * np.arange(samples)[:, None] + [0.3, 0.7]
    q = 0.15 * np.sin(time) + 0.01 * np.sin(7.3 * time) + 0.001 * np.sin(31.0 * time)
    qd = 0.15 * np.cos(time) + 0.073 * np.cos(7.3 * time) + 0.031 * np.cos(31.0 * time)
    return q, qd, np.zeros_like(q)


@pytest.mark.parametrize('yields_at', [0.0001, 0.001, 0.01])
def test_a_slip_is_a_spring_that_yields(yields_at):
    """Step by step: the deflection follows the joint and stops at its largest value."""
    q, _, _ = reversing(2000)
    deflection = np.sign(q[1] - q[0])
    for before, now, given in zip(q, q[1:], slip_state(q, yields_at)[1:], strict=False):
        deflection = np.clip(deflection + (now - before) / yields_at, -1.0, 1.0)
        np.testing.assert_allclose(given, deflection, atol=1e-9)


def test_slips_take_energy_only():
    """Over a closed motion the work of every slip is friction: never negative."""
    time = np.linspace(0.0, 4.0 * np.pi, 4001)[:, None]
    q = np.hstack([0.3 * np.sin(time), 0.002 * np.sin(3.0 * time)])
    model = SpringModel(joints=JOINTS, terms=['slip'])
    torque = model.regressor(q, q, q)
    half = slice(2000, None)  # the second period is closed
    work = np.einsum(
        'kij,ki->ij', 0.5 * (torque[1:] + torque[:-1])[half], np.diff(q, axis=0)[half]
    )
    expected = [4.0 * (0.3 - y) for y in (0.0001, 0.001, 0.01)]
    np.testing.assert_allclose(work[0, :3], expected, rtol=1e-3)
    np.testing.assert_allclose(
        work[1, 3:], [12.0 * (0.002 - 0.0001), 12.0 * (0.002 - 0.001), 0.0], rtol=1e-2, atol=1e-4
    )


def test_slips_forget_a_position_that_is_not_a_number():
    model = SpringModel(joints=JOINTS, terms=['slip'])
    at, still = model.torque_function(np.ones(6)), np.zeros(2)
    at(np.array([0.0, np.nan]), np.ones(2), still)
    assert np.isfinite(at(np.array([0.1, 0.2]), np.ones(2), still)).all()


def test_regressor_and_single_samples_agree_with_the_torque():
    model = SpringModel(joints=JOINTS, terms=list(SPRING_TERMS))
    q, qd, qdd = reversing(300)
    values = np.random.default_rng(1).normal(size=len(model.parameters))
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


def test_slips_of_all_sizes_are_base_parameters():
    plain, slips = (base_parameters(robot(terms)) for terms in (['linear'], ['linear', 'slip']))
    assert slips.rank == plain.rank + 9
    kept = [item.name for k, item in enumerate(robot(['linear', 'slip']).parameters)
            if k in slips.columns]  # fmt: skip
    assert sum('slip' in name for name in kept) == 9


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


def test_other_values_keep_the_deflection_of_slips():
    """A payload is blended in over many cycles: friction must not start anew in each of them."""
    model = robot(['linear', 'slip'])
    values = np.random.default_rng(1).uniform(0.5, 1.0, len(model.parameters))
    path = 1e-3 * np.sin(0.5 * np.arange(40.0))[:, None] + [0.3, -0.2, 0.1]
    kept, renewed = ModelTorque(model, values), ModelTorque(model, values)
    still = np.zeros(3)
    for q in path:
        renewed.set_values(values)
        expected = kept.torque(q, still, still)
        np.testing.assert_array_equal(renewed.torque(q, still, still), expected)
    assert np.abs(expected - ModelTorque(model, values).torque(q, still, still)).max() > 0.1
