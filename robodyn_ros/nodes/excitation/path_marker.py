# SPDX-License-Identifier: Apache-2.0
"""Path of the tool during a motion, as a latched marker for RViz."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from robodyn_ros.errors import ConfigError, RobodynError
from robodyn_ros.excitation.limits.constraints import Points
from robodyn_ros.excitation.robot_frame import frame_in_urdf
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf_file import UrdfFile, parse_urdf
from robodyn_ros.nodes.base.common import LATCHED_QOS, declare
from robodyn_ros.nodes.excitation.parameters import file_model
from robodyn_ros.nodes.robot.described_robot import read_description
from robodyn_ros.paths import resource

MOST_POINTS = 2000
"""Largest number of points, which RViz draws without delay."""


class PathMarker:
    """Publisher of the path of each motion on `~/path`.

    The robot is that of the parameters robot_description or urdf. If no single link is moved by
    all joints, as in a parallel robot, it is the model of result_file or model_file.
    """

    def __init__(self, node: Node) -> None:
        """Declare the parameter and create the publisher."""
        self._node = node
        self._urdf: UrdfFile | None = None
        declare(node, 'path_link', '', 'link whose path is drawn in RViz; empty: the tool')
        self._publisher = node.create_publisher(Marker, '~/path', LATCHED_QOS)

    def draw(self, trajectory: Trajectory) -> Marker | None:
        """Return the path of a motion; None, with a warning, if the robot has no such frame."""
        try:
            urdf = self._urdf = self._urdf or parse_urdf(read_description(self._node))
            points = self._points(urdf, trajectory.joints)
        except RobodynError as error:
            self._node.get_logger().warning(f'the path of the motion is not drawn: {error}')
            return None
        period = max(0.01, trajectory.duration / MOST_POINTS)
        places = points(trajectory.grid(period).position)[:, 0]
        return path_marker(places, urdf.root)

    def publish(self, marker: Marker | None) -> None:
        """Show a path in RViz; None: the last one stays."""
        if marker is not None:
            self._publisher.publish(marker)

    def _points(self, urdf: UrdfFile, joints: tuple[str, ...]) -> Points:
        """Return the positions of the drawn link."""
        link = self._value('path_link')
        points = frame_in_urdf(urdf, joints, link=link)
        if points is None and not link:
            points = frame_in_urdf(urdf, joints, model=self._model())
        if points is None:
            raise ConfigError(
                f'the URDF has no link {link!r}'
                if link
                else 'the URDF has no link that all joints move, and there is no model with a tool'
            )
        return points

    def _model(self) -> DynamicModel | None:
        if file := self._value('result_file'):
            return load_identified_model(resource(file)).model
        return file_model(self._node)

    def _value(self, name: str) -> str:
        return str(self._node.get_parameter(name).value)


def path_marker(places: NDArray[np.float64], frame: str) -> Marker:
    """Draw a line through places (N, 3), in [m] in a frame, that stays until it is replaced."""
    marker = Marker(ns='excitation_path', type=Marker.LINE_STRIP, action=Marker.ADD)
    marker.header.frame_id = frame
    marker.pose.orientation.w = 1.0
    marker.scale.x = 0.004  # width of the line, in [m]
    marker.color = ColorRGBA(r=0.1, g=0.6, b=1.0, a=1.0)
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in places.tolist()]
    return marker
