# SPDX-License-Identifier: Apache-2.0
"""Jacobians of the links of a serial arm, in axes of the root link, computed with Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.urdf import UrdfModel


@dataclass(frozen=True)
class ArmJacobians:
    """Jacobians at one position, of points with the velocity J qd in axes of the root link.

    :param tool: of the tool, linear then angular, shape (6, n)
    :param place: of the tool in the frame of the root link, shape (3,), in [m]
    :param linear: of points along each link, shape (n, P, 3, n)
    :param angular: of each link, shape (n, 3, n)
    """

    tool: Array
    place: Array
    linear: Array
    angular: Array


class LinkJacobians:
    """Jacobians of a tool and of points along each link that a joint moves.

    The points of a link are the frame of its joint, that of the next joint or the tool, and the
    middle. Use one object per thread.
    """

    def __init__(self, body: UrdfModel, *, tool: str = '') -> None:
        """Build the arm.

        :param tool: link at whose origin the tool is; '': the last link of the URDF that the last
            joint moves and that carries no other link, or else the link that the joint moves
        :raises ModelError: joints that are not one after the other, or a link that they do not
            move
        """
        bodies = body.tree.bodies
        order = [each.joint for each in bodies]
        chained = all(each.parent == number - 1 for number, each in enumerate(bodies))
        if not chained or order != list(range(len(bodies))):
            raise ModelError(
                f'{body.urdf.source}: the joints {list(body.joint_names)} are not one after the '
                f'other in this order, so that a contact has no last joint'
            )
        self._model = body.kinematic_copy()
        self._data = self._model.createData()
        children = {joint.name: joint.child for joint in body.urdf.joints}
        self.joints = body.joint_names
        self.links = tuple(children[name] for name in body.joint_names)
        self.root = body.urdf.root
        self.tool = tool or _last_link(body, self.links[-1])
        index, pose = body.tree.place(self.tool)
        if index != len(bodies) - 1:
            raise ModelError(
                f'link {self.tool!r} of {body.urdf.source} is not moved by the last joint '
                f'{body.joint_names[-1]}, so that it cannot be the tool'
            )
        self._tool = pose[:3, 3]
        ends = [each.placement[:3, 3] for each in bodies[1:]] + [self._tool]
        self._points = np.array([np.outer((0.0, 0.5, 1.0), end) for end in ends])

    def at(self, q: Array) -> ArmJacobians:
        """Return the Jacobians at joint positions (n,), in [rad] or [m]."""
        pin.computeJointJacobians(self._model, self._data, q)
        placements = [self._data.oMi[number + 1] for number in range(len(self.links))]
        origin = np.array([each.translation for each in placements])
        rotation = np.array([each.rotation for each in placements])
        # Pinocchio's world Jacobian is at the origin of the root link.
        world = np.array(self._data.J).reshape(6, -1)  # of one joint it is a vector
        carried = np.tril(np.ones((len(q), len(q))))[:, None, :]
        angular = world[3:] * carried
        places = origin[:, None] + self._points @ rotation.transpose(0, 2, 1)
        linear = _at(world[:3] * carried, angular, places)
        place = origin[-1] + rotation[-1] @ self._tool
        tool = np.concatenate(
            [_at(world[None, :3], world[None, 3:], place[None, None])[0, 0], world[3:]]
        )
        return ArmJacobians(tool, place, linear, angular)


def _at(linear: Array, angular: Array, places: Array) -> Array:
    """Return linear Jacobians (n, P, 3, k) at places (n, P, 3), from those at the origin."""
    crossed = np.cross(angular[:, None], places[..., None], axisa=2, axisb=2, axisc=2)
    result: Array = linear[:, None] + crossed
    return result


def _last_link(body: UrdfModel, moved: str) -> str:
    """Return the last of the links fixed to a moved link, each to the one before."""
    fixed = {joint.parent: joint.child for joint in body.urdf.joints if joint.type == 'fixed'}
    while moved in fixed:
        moved = fixed[moved]
    return moved
