# SPDX-License-Identifier: Apache-2.0
"""Kinematics of serial arms against Pinocchio's own, and against differences."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from robodyn_ros.errors import ModelError
from robodyn_ros.models.kinematics import build_kinematics
from robodyn_ros.models.serial.serial_kinematics import SerialKinematics
from robodyn_ros.models.serial.urdf import UrdfModel

FOLDER = Path(__file__).parents[3] / 'urdf'
ROBOTS = {'ur10': 6, 'lwr4': 7}


def arm(name, **options):
    return SerialKinematics(UrdfModel.from_file(FOLDER / f'{name}.urdf'), **options)


def states(axes, count=20, seed=0):
    random = np.random.default_rng(seed)
    q = random.uniform(0.4, 1.2, (count, axes))
    return q, *random.normal(size=(2, count, axes))


@pytest.mark.parametrize('name', ROBOTS)
def test_a_tool_is_where_pinocchio_reads_it_from_the_urdf(name):
    model = UrdfModel.from_file(FOLDER / f'{name}.urdf')
    own = pin.buildModelFromUrdf(str(FOLDER / f'{name}.urdf'))
    for link in (None, [frame.name for frame in own.frames][-1]):
        kinematics = SerialKinematics(model, link=link)
        last = next(j.child for j in model.urdf.joints if j.name == model.joint_names[-1])
        frame = own.getFrameId(link or last)
        data = own.createData()
        q = states(kinematics.axes)[0]
        poses = kinematics.forward(q)
        for row, pose in zip(q, poses, strict=True):
            pin.framesForwardKinematics(own, data, row)
            np.testing.assert_allclose(pose[:3], data.oMf[frame].translation, atol=1e-12)
            turned = Rotation.from_quat(pose[3:7]).as_matrix()
            np.testing.assert_allclose(turned, data.oMf[frame].rotation, atol=1e-12)
        np.testing.assert_array_equal(poses[:, 7:], q[:, kinematics.free])


@pytest.mark.parametrize('name', ROBOTS)
def test_inverse_and_rates_are_those_of_a_joint_motion(name):
    """The tool of a known joint motion q(t), differentiated twice by differences."""
    kinematics = arm(name)
    q, qd, qdd = states(kinematics.axes)
    h = 1e-3
    poses = []
    for t in (-2 * h, -h, 0.0, h, 2 * h):
        pose = kinematics.forward(q + qd * t + 0.5 * qdd * t**2)
        poses.append(pose)
    middle = poses[2][:, 3:7]
    for pose in poses:  # the same one of two quaternions of a rotation
        pose[:, 3:7] *= np.sign((pose[:, 3:7] * middle).sum(axis=1))[:, None]
    a, b, c, d, e = poses
    rate = (a - 8 * b + 8 * d - e) / (12 * h)
    change = (-a + 16 * b - 30 * c + 16 * d - e) / (12 * h**2)
    found = kinematics.motion(c, rate, change, near=q + 0.05)
    np.testing.assert_allclose(found[0], q, atol=1e-8)
    np.testing.assert_allclose(found[1], qd, atol=1e-6)
    np.testing.assert_allclose(found[2], qdd, atol=1e-4)


@pytest.mark.parametrize('name', ROBOTS)
def test_some_configuration_is_found_without_a_hint_and_a_description_gives_it_back(name):
    kinematics = arm(name)
    poses = kinematics.forward(states(kinematics.axes, 3)[0])
    back = build_kinematics(kinematics.describe())
    for pose in poses:
        q = back.inverse(pose[None])
        assert (np.abs(q) <= np.pi).all()
        reached = kinematics.forward(q)[0]
        np.testing.assert_allclose(reached[:3], pose[:3], atol=1e-9)
        assert abs(reached[3:7] @ pose[3:7]) == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(reached[7:], pose[7:], atol=1e-9)


@pytest.mark.parametrize(
    ('make', 'words'),
    [
        (
            lambda: arm('ur10').inverse(np.array([[9.0, 0, 0, 0, 0, 0, 1]])),
            'a serial arm cannot reach',
        ),
        (lambda: arm('ur10').inverse(np.zeros((1, 6))), r'needs poses of shape \(N, 7\)'),
        (lambda: arm('ur10', link='nothing'), "has no link 'nothing'"),
        (lambda: arm('ur10', link='forearm_link'), 'is carried by the joints'),
        (lambda: arm('single_axis'), 'needs 0 free joints so that six move its tool'),
        (lambda: arm('lwr4', free=['a']), "free joint 'a' is not one of"),
    ],
)
def test_refuses_with_one_sentence(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_refuses_a_singular_position():
    kinematics = arm('ur10')
    x = kinematics.forward(np.array([[0.3, -1.0, 1.0, -0.5, 0.0, 0.2]]))
    with pytest.raises(ModelError, match='singular'):
        kinematics.motion(x, 0.0 * x, 0.0 * x, near=np.array([0.3, -1.0, 1.0, -0.5, 0.0, 0.2]))
