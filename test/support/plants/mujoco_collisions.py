# SPDX-License-Identifier: Apache-2.0
"""Collisions of a robot by MuJoCo: independent of the library that the suite checks with."""

import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np


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
