# SPDX-License-Identifier: Apache-2.0
"""The URDFs in urdf/: sound, loadable by a simulator, and with the published kinematics."""

import warnings

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from closed_form_oracle import PumaArm
from real_machines import data_folder
from robots import (
    LWR4,
    SINGLE_AXIS,
    SINGLE_ROTARY_AXIS,
    SIX_AXIS,
    UR10,
    URDF_FOLDER,
    random_states,
)

from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.closed_forms.puma import FOLLOWING
from robodyn_ros.models.serial.urdf import UrdfModel

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
        'ns16': 40,
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
    recorded = data_folder('kuka_lwr4') / 'kuka_lwr4.urdf'
    angles = np.random.default_rng(seed).uniform(-2, 2, 7)
    ours, theirs = (
        tool_pose(path, LWR4_JOINTS, tool, angles)
        for path, tool in ((LWR4, 'tool0'), (recorded, 'lwr_7_link'))
    )
    # The recorded robot stands on a box.
    mount = tool_pose(recorded, LWR4_JOINTS, 'lwr_base_link', angles)
    np.testing.assert_allclose(mount @ ours, theirs, atol=1e-10)


def screw(axis, point, angle):
    """Rotation about an axis through a point."""
    pose = np.eye(4)
    pose[:3, :3] = pin.exp3(angle * np.array(axis, dtype=float))
    pose[:3, 3] = point - pose[:3, :3] @ point
    return pose


@pytest.mark.parametrize('seed', range(3))
def test_ns16_has_the_published_kinematics(seed):
    # as document local_identification gives them: axes at zero, and lengths from base to flange
    elbow, wrist = np.array([0.3, 0, 0.6 + 0.7]), np.array([0.3 - 0.185, 0, 0.6 + 0.7 + 0.624])
    down, left = np.array([0, 0, -1]), np.array([0, 1, 0])
    points = [np.zeros(3), np.array([0.3, 0, 0.6]), elbow, wrist, wrist, wrist]
    angles = np.random.default_rng(seed).uniform(-3, 3, 6)
    expected = np.eye(4)
    for axis, point, angle in zip(
        [down, left, -left, down, left, down], points, angles, strict=True
    ):
        expected = expected @ screw(axis, point, angle)
    flange = np.eye(4)
    flange[:3, 3] = wrist - 0.135 * down
    names = tuple(f'joint{number}' for number in range(1, 7))
    pose = tool_pose(URDF_FOLDER / 'ns16.urdf', names, 'tool0', angles)
    np.testing.assert_allclose(pose, expected @ flange, atol=1e-12)


CONFIG = URDF_FOLDER.parent / 'config'


def bodies(robot):
    """Mass, centre of mass and inertia tensor about it of link1, link2, ..., from the URDF."""
    model = pin.buildModelFromUrdf(str(URDF_FOLDER / f'{robot}.urdf'))
    return [
        (body.mass, np.array(body.lever), np.array(body.inertia)) for body in model.inertias[1:]
    ]


def axis_values(geometry):
    ((mass, centre, inertia),) = bodies('axis')
    return {
        'I': inertia[1, 1] + mass * centre[2] ** 2,
        'L^2': 0.0,
        'M*g*A': 9.81 * mass * centre[2],
        'g*L': 0.0,
    }


def scara_values(robot, geometry):
    links = bodies(robot)
    (m1, c1, i1), (m2, c2, i2), (_, _, i3), *last = links
    lifted = sum(mass for mass, _, _ in links[2:])
    return {
        '(L1^2*M2+I1)': i1[2, 2] + m1 * c1[0] ** 2 + m2 * geometry.L1**2,
        '(A2^2*M2+I2)': i2[2, 2] + m2 * c2[0] ** 2 + i3[2, 2],
        'J2': 0.0,
        'L1*A2*M2': geometry.L1 * c2[0] * m2,
        'M3': lifted,
        'g*M3': 9.81 * lifted,
        'I4': last[0][2][2, 2] if last else 0.0,
        'J4': 0.0,
    }


def puma_values(geometry):
    """Constants of Armstrong's paper; those that follow from others are left to the model."""
    arm = PumaArm(0)
    masses, levers, tensors = zip(*bodies('puma'), strict=True)
    arm.lengths, arm.m, arm.r, arm.Im = geometry, masses, np.array(levers), np.zeros(6)
    arm.J = np.array([np.diag(tensor) for tensor in tensors])
    return {name: value for name, value in arm.values().items() if name not in FOLLOWING}


VALUES = {
    'axis': axis_values,
    'scara': lambda geometry: scara_values('scara', geometry),
    'scara3': lambda geometry: scara_values('scara3', geometry),
    'puma': puma_values,
}


@pytest.mark.parametrize('robot', VALUES)
def test_closed_form_of_a_robot_is_the_rnea_of_its_urdf(robot):
    model = load_model(CONFIG / 'robots' / f'{robot}.yaml').parts[0]
    known = VALUES[robot](getattr(model, 'geometry', None) or model.settings.get('geometry'))
    assert set(known) == {item.name for item in model.parameters}
    values = np.array([known[item.name] for item in model.parameters])
    body = UrdfModel.from_file(URDF_FOLDER / f'{robot}.urdf', rotor_inertia=False)
    assert body.joint_names == model.joint_names
    states = random_states(len(model.joints), 200)
    expected = body.torque(*states, body.prior())
    assert (np.abs(expected).max(axis=0) > 1e-3).all()
    np.testing.assert_allclose(model.torque(*states, values), expected, rtol=0, atol=1e-9)
