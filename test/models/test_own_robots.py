"""The URDFs in urdf/: sound, loadable by a simulator, and with the published kinematics."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robots import (
    DATA,
    LWR4,
    SINGLE_AXIS,
    SINGLE_ROTARY_AXIS,
    SIX_AXIS,
    UR10,
    URDF_FOLDER,
    random_states,
)

from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.urdf import UrdfModel

UR10_JOINTS = (
    'shoulder_pan_joint',
    'shoulder_lift_joint',
    'elbow_joint',
    'wrist_1_joint',
    'wrist_2_joint',
    'wrist_3_joint',
)
LWR4_JOINTS = tuple(f'lwr_{k}_joint' for k in range(7))
RANKS = {SIX_AXIS: 40, UR10: 40, LWR4: 48, SINGLE_AXIS: 1, SINGLE_ROTARY_AXIS: 3} | {
    URDF_FOLDER / f'{name}.urdf': rank
    for name, rank in {
        'axis': 3,
        'scara3': 7,
        'scara': 11,
        'delta3': 9,
        'delta': 10,
        'puma': 40,
    }.items()
}


@pytest.mark.parametrize('path', sorted(URDF_FOLDER.glob('*.urdf')), ids=lambda path: path.stem)
def test_every_robot_is_sound_and_the_simulator_agrees(path):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        model = UrdfModel.from_file(path)
    assert model.notes == ()
    assert base_parameters(model).rank == RANKS[path]
    for joint in model.urdf.joints:
        if joint.type != 'fixed':
            limits = [joint.upper - joint.lower, joint.velocity, joint.effort]
            assert np.isfinite(limits).all()
            assert min(limits) > 0
    for name, pseudo in model.urdf.pseudo_inertia.items():
        assert not pseudo.any() or np.linalg.eigvalsh(pseudo)[0] > 0, name
    plant = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(plant)
    mujoco.mj_forward(plant, data)
    assert data.ncon == 0, 'links touch at the zero pose'
    plant.opt.disableflags = int(
        mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    )
    states = random_states(len(model.joints), 5)
    torque = model.torque(*states, model.prior())
    for index in range(5):
        data.qpos[:], data.qvel[:], data.qacc[:] = (value[index] for value in states)
        mujoco.mj_inverse(plant, data)
        np.testing.assert_allclose(torque[index], data.qfrc_inverse, rtol=0, atol=1e-10)


def test_gravity_leaves_the_six_axis_arm_room_to_move():
    model = UrdfModel.from_file(SIX_AXIS)
    assert model.joint_names == tuple(f'joint{k}' for k in range(1, 7))
    q = random_states(6, 2000)[0]
    torque = np.abs(model.torque(q, 0 * q, 0 * q, model.prior())).max(axis=0)
    efforts = [item.effort for item in model.urdf.joints if item.type != 'fixed']
    assert (torque < 0.35 * np.array(efforts)).all()


def tool_pose(path, joints, tool, values):
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    state = pin.neutral(model)
    for name, value in zip(joints, values, strict=True):
        state[model.joints[model.getJointId(name)].idx_q] = value
    pin.framesForwardKinematics(model, data, state)
    return data.oMf[model.getFrameId(tool)].homogeneous


def dh_pose(rows, angles):
    """Product of Rz(theta) Tz(d) Tx(a) Rx(alpha), from the published table."""
    pose = np.eye(4)
    for (d, a, alpha), theta in zip(rows, angles, strict=True):
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        pose = pose @ np.array(
            [
                [ct, -st * ca, st * sa, a * ct],
                [st, ct * ca, -ct * sa, a * st],
                [0, sa, ca, d],
                [0, 0, 0, 1],
            ]
        )
    return pose


@pytest.mark.parametrize('seed', range(3))
def test_ur10_has_the_published_kinematics(seed):
    right = np.pi / 2
    rows = [
        (0.1273, 0, right),
        (0, -0.612, 0),
        (0, -0.5723, 0),
        (0.163941, 0, right),
        (0.1157, 0, -right),
        (0.0922, 0, 0),
    ]
    angles = np.random.default_rng(seed).uniform(-3, 3, 6)
    expected = np.diag([-1.0, -1, 1, 1]) @ dh_pose(rows, angles)
    pose = tool_pose(UR10, UR10_JOINTS, 'tool0', angles)
    np.testing.assert_allclose(pose, expected, atol=1e-12)


@pytest.mark.parametrize('seed', range(3))
def test_lwr4_has_the_kinematics_of_the_recorded_robot(seed):
    recorded = DATA / 'kuka_lwr4' / 'kuka_lwr4.urdf'
    if not recorded.is_file():
        pytest.skip(f'no {recorded}: set ROBODYN_DATA to the folder of recordings')
    angles = np.random.default_rng(seed).uniform(-2, 2, 7)
    ours, theirs = (
        tool_pose(path, LWR4_JOINTS, tool, angles)
        for path, tool in ((LWR4, 'tool0'), (recorded, 'lwr_7_link'))
    )
    # The recorded robot stands on a box.
    mount = tool_pose(recorded, LWR4_JOINTS, 'lwr_base_link', angles)
    np.testing.assert_allclose(mount @ ours, theirs, atol=1e-10)
