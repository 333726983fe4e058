# SPDX-License-Identifier: Apache-2.0
"""Robots, limits and the published motion of document "double_encoder_identification_2023".

Table 1 and Table 3 (joint 6 with its two misprints corrected); the document's own robot is not
published, so its motion is judged on two robots of well-known geometry.
"""

import numpy as np

from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.fourier import FourierMotion
from robodyn_ros.models.serial.urdf import UrdfModel

JOINTS = tuple(f'joint{number}' for number in range(1, 7))
_A = [
    [0.0046, -0.0074, 0.4845, -0.5103, 0.0286],
    [-0.0406, 0.0597, 0.2492, 0.0678, -0.3361],
    [-0.1772, 0.0661, 0.1019, 0.0189, -0.0097],
    [-0.1704, 0.1161, -0.1703, 0.1426, 0.082],
    [-0.021, -0.1317, 0.3614, -0.1994, -0.0094],
    [0.0637, 0.2685, 0.1682, -0.4241, -0.0763],
]
_B = [
    [-0.0053, -0.0182, 0.6963, -0.3354, -0.1411],
    [-0.0234, -0.2122, 0.1619, -0.1082, 0.0789],
    [-0.0001, -0.0583, 0.045, 0.1273, -0.1056],
    [0.0088, -0.3357, 0.1996, 0.1731, -0.1257],
    [0.146, -0.3491, 0.3639, -0.1008, -0.0273],
    [0.1335, 0.0666, 0.0942, -0.2907, 0.1227],
]
_CENTER = [0.3361, -0.2762, -0.0112, -0.2369, 0.1976, 0.4777]
_RIGHT = np.pi / 2

# (x, y, z, angle about x) of each joint in the one before: Armstrong's PUMA, and the UR5.
PUMA = [
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 0.2435, 0.0, -_RIGHT),
    (0.4318, 0.0, -0.0934, 0.0),
    (-0.0203, -0.4331, 0.0, _RIGHT),
    (0.0, 0.0, 0.0, -_RIGHT),
    (0.0, 0.0, 0.0, _RIGHT),
]
UR5 = [
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.089159, _RIGHT),
    (-0.425, 0.0, 0.0, 0.0),
    (-0.39225, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.10915, _RIGHT),
    (0.0, 0.0, 0.09465, -_RIGHT),
]


def urdf(rows):
    """URDF of six revolute joints about z; inertias do not matter to the regressor."""
    text = '<link name="link0"/>'
    for number, (x, y, z, roll) in enumerate(rows, start=1):
        text += (
            f'<link name="link{number}"><inertial><origin xyz="0.05 -0.03 0.1"/>'
            '<mass value="2"/><inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" '
            'iyz="0.003" izz="0.025"/></inertial></link>'
            f'<joint name="joint{number}" type="revolute"><parent link="link{number - 1}"/>'
            f'<child link="link{number}"/><origin xyz="{x} {y} {z}" rpy="{roll} 0 0"/>'
            '<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="100" velocity="3"/></joint>'
        )
    return f'<robot name="published">{text}</robot>'


def robot(name):
    """Rigid-body model, 36 base columns, of 'puma' or 'ur5'."""
    rows = {'puma': PUMA, 'ur5': UR5}[name]
    return UrdfModel.from_xml(urdf(rows), rotor_inertia=False)


def table1():
    """Limits of Table 1."""
    position = np.radians([120.0, 90.0, 60.0, 120.0, 120.0, 120.0])
    velocity = np.radians([100.0, 60.0, 60.0, 80.0, 80.0, 80.0])
    endless = np.full(6, np.inf)
    return JointLimits(
        JOINTS, ('rad',) * 6, -position, position, velocity, np.full(6, np.radians(120.0)),
        endless, endless,
    )  # fmt: skip


def table3():
    """The published motion, 20 s."""
    return FourierMotion(
        joints=JOINTS, center=_CENTER, a=_A, b=_B, base_frequency=0.05, duration=20.0,
        lead_in=None, lead_out=None,
    )  # fmt: skip


def table3_states():
    """Its 200 samples, as printed: every 0.1 s, without leads."""
    return table3().curve(0.1 * np.arange(200))
