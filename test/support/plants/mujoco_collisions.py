# SPDX-License-Identifier: Apache-2.0
"""Collisions of a robot by MuJoCo: independent of the library that the suite checks with."""

import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np

BALL = """<robot name="r"><link name="base"/><link name="ball"><collision>
<origin xyz="1 0 0"/><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="joint1" type="revolute"><parent link="base"/><child link="ball"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="1" effort="1"/></joint></robot>"""
"""A ball of radius 0.1 m that moves on a circle of radius 1 m around z."""


class MujocoCollisions:
    """Contacts of links that no joint joins; for URDFs whose links all have primitives."""

    def __init__(self, urdf, joints):
        root = ET.fromstring(Path(urdf).read_text())
        options = ET.SubElement(root, 'mujoco')
        ET.SubElement(options, 'compiler', {'fusestatic': 'false', 'discardvisual': 'true'})
        self.model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding='unicode'))
        self.data = mujoco.MjData(self.model)
        self.columns = [self.model.joint(name).qposadr[0] for name in joints]

    def depths(self, positions):
        """Largest depth (N,) in [m] at joint positions (N, n); 0 where nothing touches."""
        result = np.zeros(len(positions))
        for row, position in enumerate(positions):
            self.data.qpos[self.columns] = position
            mujoco.mj_kinematics(self.model, self.data)
            mujoco.mj_collision(self.model, self.data)
            for contact in self.data.contact:
                if not self._joined(*contact.geom):
                    result[row] = max(result[row], -contact.dist)
        return result

    def _joined(self, first, second):
        bodies = [int(self.model.geom_bodyid[geom]) for geom in (first, second)]
        one, other = (int(self.model.body_weldid[body]) for body in bodies)
        parents = [
            int(self.model.body_weldid[self.model.body_parentid[body]]) for body in (one, other)
        ]
        return one == other or parents[0] == other or parents[1] == one


def ball_distance(kind, size, pose, outer, joint):
    """Distance of `BALL` at a joint position from a shape; its pose is inside an outer one."""
    half = {'box': 0.5 * np.array(size), 'sphere': size, 'cylinder': [size[-1], 0.5 * size[0]]}
    shape = f'type="{kind}" size="{" ".join(map(str, half.get(kind, [0])))}"'
    rows = ' '.join(map(str, np.ravel(size)))
    asset = f'<asset><mesh name="m" vertex="{rows}"/></asset>' if kind == 'mesh' else ''

    def placed(pose):
        (x, y, z), (i, j, k, w) = pose
        return f'pos="{x} {y} {z}" quat="{w} {i} {j} {k}"'

    model = mujoco.MjModel.from_xml_string(
        f'<mujoco>{asset}<worldbody><body euler="0 0 {np.degrees(joint)}">'
        '<geom name="ball" pos="1 0 0" size="0.1"/></body>'
        f'<body {placed(outer)}><body {placed(pose)}><geom name="it" '
        + ('type="mesh" mesh="m"' if kind == 'mesh' else shape)
        + '/></body></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    first, second = (model.geom(name).id for name in ('ball', 'it'))
    return mujoco.mj_geomDistance(model, data, first, second, 100.0, None)
