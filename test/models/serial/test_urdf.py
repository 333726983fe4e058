# SPDX-License-Identifier: Apache-2.0
import pickle

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import random_states, random_urdf

from robodyn_ros.errors import ModelError
from robodyn_ros.models.serial.urdf import UrdfModel

TWO = random_urdf(2, 1, types=('revolute',))


def reference(xml, gravity=(0.0, 0.0, -9.81)):
    """Pinocchio's own reading of the URDF, and which joints are of its cos/sin kind."""
    model = pin.buildModelFromXML(xml)
    model.gravity.linear = np.array(gravity)
    return model


def rnea(model, q, qd, qdd):
    data = model.createData()
    torque = np.empty_like(q)
    for index in range(len(q)):
        state = pin.neutral(model)
        for joint in range(1, model.njoints):
            item, value = model.joints[joint], q[index, joint - 1]
            state[item.idx_q : item.idx_q + item.nq] = (
                [np.cos(value), np.sin(value)] if item.nq == 2 else value
            )
        torque[index] = pin.rnea(model, data, state, qd[index], qdd[index])
    return torque


@settings(max_examples=25, derandomize=True)
@given(
    joints=st.integers(1, 9),
    seed=st.integers(0, 10**6),
    gravity=st.sampled_from([(0.0, 0.0, -9.81), (3.0, -9.0, 1.0), (0.0, 0.0, 0.0)]),
)
def test_y_p_equals_recursive_newton_euler(joints, seed, gravity):
    xml = random_urdf(joints, seed)
    model = UrdfModel.from_xml(xml, gravity=gravity)
    q, qd, qdd = random_states(joints, 4, seed)
    expected = rnea(reference(xml, gravity), q, qd, qdd)
    torque = model.regressor(q, qd, qdd) @ model.prior()
    np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize('joints', [1, 3, 6, 9])
def test_agrees_with_mujoco_with_rotors_as_armature(joints):
    # MuJoCo shares no code with Pinocchio and reads the URDF itself. Both work in double
    # precision; over 90 such robots they were seen to differ by 5e-15 of the largest torque.
    xml = random_urdf(joints, 100 + joints)
    model = UrdfModel.from_xml(xml)
    plant = mujoco.MjModel.from_xml_string(xml)
    plant.opt.disableflags = int(
        mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    )
    rotors = np.random.default_rng(joints).uniform(0.1, 2.0, joints)
    plant.dof_armature[:] = rotors
    plant.opt.gravity[:] = model.gravity
    data = mujoco.MjData(plant)
    q, qd, qdd = random_states(joints, 10, joints)
    torque = model.regressor(q, qd, qdd) @ np.concatenate([model.prior()[:-joints], rotors])
    for index in range(len(q)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[index], qd[index], qdd[index]
        mujoco.mj_inverse(plant, data)
        np.testing.assert_allclose(
            torque[index], data.qfrc_inverse, rtol=0, atol=1e-12 * np.abs(torque).max()
        )


def test_parameters_are_named_in_joint_order_with_units():
    model = UrdfModel.from_xml(random_urdf(2, 3, types=('prismatic',)))
    names = [item.name for item in model.parameters]
    # The order of Pinocchio's toDynamicParameters.
    suffixes = ['m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz']
    assert names[:10] == [f'link1.{suffix}' for suffix in suffixes]
    assert names[20:] == ['joint1.rotor_inertia', 'joint2.rotor_inertia']
    assert [item.unit for item in model.parameters[:5]] == ['kg', *['kg m'] * 3, 'kg m^2']
    assert model.parameters[-1].unit == 'kg'
    assert model.parameters[0].joint == 'joint1'
    turning = UrdfModel.from_xml(TWO)
    assert turning.parameters[-1].unit == 'kg m^2'
    assert model.prior()[20:].tolist() == [0, 0]


@pytest.mark.parametrize('massless', [False, True])
@pytest.mark.parametrize('joints', [1, 4, 7])
def test_torque_is_the_regressor_times_the_values(joints, massless):
    model = UrdfModel.from_xml(random_urdf(joints, 3 * joints))
    values = np.random.default_rng(joints).normal(size=11 * joints)
    values[: 10 * joints : 10] = np.abs(values[: 10 * joints : 10]) + 0.1
    if massless:  # has no centre of mass, so that Newton-Euler cannot be used
        values[10 * joints - 10] = 0.0
    for samples in (20, 200, 100):  # one by one, and all at once with other values each time
        states = random_states(joints, samples, joints)
        expected = model.regressor(*states) @ values
        torque = model.torque(*states, values)
        np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        values = 1.1 * values


@pytest.mark.parametrize(
    'options', [{}, {'rotor_inertia': False}, {'joints': ['joint3', 'joint1']}]
)
@pytest.mark.parametrize('massless', [False, True])
def test_one_sample_after_the_other_is_what_it_is_among_many(options, massless):
    model = UrdfModel.from_xml(random_urdf(4, 8), **options)
    values = np.abs(np.random.default_rng(1).normal(size=len(model.parameters))) + 0.1
    values[0] *= not massless
    states = random_states(len(model.joints), 20)
    expected = model.torque(*states, values)
    at = model.torque_function(values)
    model.torque(*states, 2.0 * values)  # neither other values of the model
    values[:] = np.nan  # nor the caller's array are looked at
    single = [at(*state) for state in zip(*states, strict=True)]
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    with pytest.raises((ModelError, ValueError)):
        at(*(state[0, :-1] for state in states))
    with pytest.raises(ModelError, match='got values of shape'):
        model.torque_function(values[:-1])


@pytest.mark.parametrize('chosen', [[1, 2, 4], [4, 1], [3]])
def test_joints_left_out_are_locked_at_zero(chosen):
    xml = random_urdf(5, 7)
    names = [f'joint{k + 1}' for k in chosen]
    model = UrdfModel.from_xml(xml, joints=names)
    q, qd, qdd = (np.zeros((6, 5)) for _ in range(3))
    moving = random_states(len(chosen), 6)
    for full, part in zip((q, qd, qdd), moving, strict=True):
        full[:, chosen] = part
    expected = rnea(reference(xml), q, qd, qdd)[:, chosen]
    np.testing.assert_allclose(model.torque(*moving, model.prior()), expected, atol=1e-10)


def test_a_model_that_has_been_used_can_be_sent_to_another_process():
    model = UrdfModel.from_xml(random_urdf(3, 1))
    q, qd, qdd = random_states(3, 100, 2)
    values = np.abs(model.prior()) + 1.0
    size = len(pickle.dumps(model))
    torque, regressor = model.torque(q, qd, qdd, values), model.regressor(q, qd, qdd)
    message = pickle.dumps(model)
    assert len(message) < 2 * size  # work space stays here
    sent = pickle.loads(message)
    np.testing.assert_array_equal(sent.torque(q, qd, qdd, values), torque)
    np.testing.assert_array_equal(sent.regressor(q, qd, qdd), regressor)


def test_links_without_inertial_and_missing_meshes_are_fine():
    xml = (
        '<robot name="r"><link name="b"/><link name="t"><visual><geometry>'
        '<mesh filename="package://nowhere/x.dae"/></geometry></visual></link>'
        '<joint name="j" type="continuous"><parent link="b"/><child link="t"/></joint></robot>'
    )
    model = UrdfModel.from_xml(xml)
    assert not model.prior().any()
    # The axis defaults to x, gravity acts along -z: my is felt through cos, mz through sin.
    row = model.regressor(np.array([[0.3]]), np.zeros((1, 1)), np.zeros((1, 1)))[0, 0]
    expected = np.zeros(11)
    expected[2:4] = 9.81 * np.cos(0.3), -9.81 * np.sin(0.3)
    np.testing.assert_allclose(row, expected, atol=1e-14)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'joints': ['joint9']}, 'arm.urdf has no moving joint joint9; it has joint1, joint2'),
        ({'joints': ['fixed1']}, 'no moving joint fixed1'),
        ({'joints': []}, 'no moving joint'),
        ({'joints': ['joint1', 'joint1']}, 'joint1 is listed twice'),
        ({'gravity': (0, 0)}, 'gravity must be three finite numbers'),
        ({'gravity': (0, 0, np.nan)}, 'gravity must be three finite numbers'),
        ({'gravity': 'down'}, 'gravity must be three finite numbers'),
    ],
)
def test_refuses_options(options, message):
    with pytest.raises(ModelError, match=message):
        UrdfModel.from_xml(TWO, source='arm.urdf', **options)


@pytest.mark.parametrize('kind', ['mimic', 'floating', 'planar'])
def test_refuses_joints_it_cannot_move_but_can_lock_them(kind):
    extra = '<mimic joint="joint1"/>' if kind == 'mimic' else ''
    shown = 'revolute' if kind == 'mimic' else kind
    finger = (
        f'<link name="f"/><joint name="finger" type="{shown}"><parent link="link2"/>'
        f'<child link="f"/>{extra}</joint></robot>'
    )
    xml = TWO.replace('</robot>', finger)
    with pytest.raises(ModelError, match=f'joint finger is a {kind} joint'):
        UrdfModel.from_xml(xml)
    locked = UrdfModel.from_xml(xml, joints=['joint1', 'joint2'])
    np.testing.assert_array_equal(locked.prior(), UrdfModel.from_xml(TWO).prior())


@pytest.mark.parametrize('shape', [(2,), (3, 1), (3, 3)])
def test_refuses_states_of_the_wrong_shape(shape):
    state = np.zeros(shape)
    with pytest.raises(
        ModelError, match=r'the model of URDF with 2 joints needs q, qd, qdd of shape \(N, 2\)'
    ):
        UrdfModel.from_xml(TWO).regressor(state, state, state)
