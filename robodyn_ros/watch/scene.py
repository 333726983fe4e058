# SPDX-License-Identifier: Apache-2.0
"""The robot and its markers in three dimensions, as the live page draws them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from robodyn_ros.bounds import NUMBER
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.tree import body_tree
from robodyn_ros.models.serial.urdf_file import UrdfFile, UrdfJoint
from robodyn_ros.output_files import plain
from robodyn_ros.report.robot.capsules import capsules
from robodyn_ros.report.robot.poses import poses

KINDS = {0: 'arrow', 2: 'ball', 4: 'line', 9: 'text'}
"""Type of a visualization_msgs/Marker -> how the page draws it; it draws no others."""

MOST_POINTS = 200
"""Of a line; more take too long to send in each frame."""


def moving_joints(urdf: UrdfFile) -> list[UrdfJoint]:
    """Return the joints whose positions draw the robot; those that follow another one do not."""
    kinds = ('revolute', 'continuous', 'prismatic')
    return [joint for joint in urdf.joints if joint.type in kinds and not joint.mimic]


class Scene:
    """Robot of a URDF at measured positions.

    :ivar joints: names of `moving_joints`, at least one; all others are drawn at zero
    """

    def __init__(self, urdf: UrdfFile) -> None:
        moving = moving_joints(urdf)
        self.joints = tuple(joint.name for joint in moving)
        self._tree = body_tree(urdf, self.joints)
        low, high = (
            np.array([value if np.isfinite(value) else other for value, other in limits])
            for limits in (
                [(joint.lower, -np.pi) for joint in moving],
                [(joint.upper, np.pi) for joint in moving],
            )
        )
        # Positions all over the range: the picture has room for each.
        self._samples = np.random.default_rng(0).uniform(
            low, np.maximum(low, high), (60, len(low))
        )

    def robot(self) -> str:
        """Return the shapes on the bodies, and two corners of the room they move in, as JSON."""
        bodies = self._tree.bodies
        shapes = capsules(bodies, self._samples, self._tree.places)
        origins = poses(bodies, self._samples)[:, :, :3, 3].reshape(-1, 3)
        room = np.percentile(origins, (10.0, 90.0), axis=0)  # nearly all: it is seen larger
        room[0, 2] = min(room[1, 2], 0.0)  # what is below the ground needs none
        return json.dumps({'kind': 'robot', 'shapes': plain(shapes), 'room': room.tolist()})

    def frame(self, position: Array, markers: Iterable[Any], *, fresh: bool) -> str:
        """Return poses and markers in the base frame, as JSON.

        :param position: of `joints`, shape (n,), in [rad] or [m]
        :param markers: visualization_msgs/Marker; those in frames of other robots are left out
        :param fresh: False: the positions are old
        """
        current = poses(self._tree.bodies, position[None])[0]
        drawn = [self._draw(marker, current) for marker in markers]
        content = {
            'kind': 'scene', 'fresh': fresh,
            'poses': np.round(current[:, :3], 4).ravel().tolist(),
            'markers': [row for row in drawn if row],
        }  # fmt: skip
        return json.dumps(content)

    def _draw(self, marker: Any, current: Array) -> dict[str, Any] | None:
        """Return a marker with its points in the base frame; None: it is not drawn."""
        kind = KINDS.get(marker.type)
        frame = marker.header.frame_id.lstrip('/')
        removed = marker.action != 0  # ADD; all others remove markers
        if kind is None or removed or frame not in self._tree.places:
            return None
        body, place = self._tree.places[frame]
        pose = (current[body] if body >= 0 else np.eye(4)) @ place @ _pose(marker.pose)
        step = 1 + len(marker.points) // MOST_POINTS
        given = [*marker.points[::step], *marker.points[-1:]]
        points = np.array([[p.x, p.y, p.z] for p in given] or [[0.0, 0.0, 0.0]])
        placed = points @ pose[:3, :3].T + pose[:3, 3]
        rgba = [getattr(marker.color, part) for part in 'rgba']
        if not (np.abs([*placed.ravel(), marker.scale.x, *rgba]) < NUMBER.most).all():  # NaN too
            return None
        return {
            'kind': kind,
            'points': np.round(placed, 4).tolist(),
            'size': marker.scale.x,
            'rgba': rgba,
            'text': marker.text[:200],
        }


def _pose(pose: Any) -> Array:
    """Return a geometry_msgs/Pose as a matrix, shape (4, 4); a quaternion of zeros is no turn."""
    w, x, y, z = (float(getattr(pose.orientation, part)) for part in 'wxyz')
    norm = w * w + x * x + y * y + z * z
    matrix = np.eye(4)
    if norm > w * w:  # few markers are turned
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        matrix[:3, :3] += 2.0 / norm * (w * cross + cross @ cross)
    matrix[:3, 3] = [pose.position.x, pose.position.y, pose.position.z]
    return matrix
