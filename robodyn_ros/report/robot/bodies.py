# SPDX-License-Identifier: Apache-2.0
"""Moving bodies of a robot model, for its picture."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.closed_forms.axis import AxisModel
from robodyn_ros.models.closed_forms.scara import ScaraModel
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
from robodyn_ros.models.serial.rigid_columns import Body
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part
from robodyn_ros.report.robot.capsules import Places


def bodies(model: DynamicModel) -> tuple[Body, ...]:
    """Return the moving bodies; () for robots that are no tree of known lengths."""
    for part, _ in parts_of(model):
        if isinstance(part, UrdfModel):
            return part.tree.bodies
        if isinstance(part, ScaraModel):
            return _scara(part)
        if isinstance(part, AxisModel):
            return (Body(-1, 0, np.eye(4), *_axis(part)),)
    return ()


def places(model: DynamicModel) -> Places | None:
    """Return the places of the links of a URDF; None: a closed form."""
    body = rigid_part(model)
    return None if body is None else body.tree.places


def _axis(part: AxisModel) -> tuple[Array, bool]:
    slides = part.joints[0].type == 'prismatic'
    return np.array([1.0, 0.0, 0.0] if slides else [0.0, 1.0, 0.0]), slides


def _scara(part: ScaraModel) -> tuple[Body, ...]:
    """Return the axes as the kinematics of the document has them, on a column."""
    up, geometry = np.array([0.0, 0.0, 1.0]), part.geometry
    first, second = geometry.L1, geometry.L2
    steps = [(0.0, 0.0, 0.8 * (first + second)), (first, 0.0, 0.0), (second, 0.0, 0.0), (0.0,) * 3]
    axes = [up, up, geometry.z_sense * up, geometry.s4 * up]
    bodies = []
    for number in range(len(part.joints)):
        placement = np.eye(4)
        placement[:3, 3] = steps[number]
        bodies.append(Body(number - 1, number, placement, axes[number], number == 2))
    return tuple(bodies)
