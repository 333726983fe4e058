# SPDX-License-Identifier: Apache-2.0
"""Torque error of each joint as markers for RViz."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Point
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from robodyn_ros.models.serial.urdf_file import UrdfFile, UrdfJoint
from robodyn_ros.watch.joint_levels import NO_DATA, WORDS

COLOURS = {
    NO_DATA: ColorRGBA(r=0.5, g=0.5, b=0.5, a=0.4),
    0: ColorRGBA(r=0.5, g=0.4, b=0.9, a=0.6),
    1: ColorRGBA(r=0.1, g=0.7, b=0.3, a=0.6),
    2: ColorRGBA(r=1.0, g=0.65, b=0.0, a=0.9),
    3: ColorRGBA(r=0.9, g=0.05, b=0.1, a=0.9),
}
"""Colour of each level."""
SIZE = 0.25
"""Length of the arrow at the threshold, in [m]."""


class Markers:
    """Publisher of `~/markers`: a ball, an arrow and a text in the frame of each moved link.

    The arrow lies on the joint axis. Its length is the torque error as a share of the threshold;
    it points along the axis if the model torque is larger than the measured torque. TF (of
    robot_state_publisher) places the frames. Markers that are not repeated disappear.
    """

    def __init__(self, node: Node, urdf: UrdfFile | None) -> None:
        """Create the publisher.

        :param urdf: robot; None: no markers
        """
        self._node = node
        self._publisher = node.create_publisher(MarkerArray, '~/markers', 5)
        self._joints = {} if urdf is None else {joint.name: joint for joint in urdf.joints}
        self._root = '' if urdf is None else urdf.root
        self._kept: dict[tuple[str, str], Marker] = {}  # a Marker is slow to make

    @property
    def wanted(self) -> bool:
        """True if somebody subscribes."""
        return bool(self._publisher.get_subscription_count())

    def make(self, state: Any, fresh: bool) -> list[Marker]:
        """Return the markers of the last message of the monitor.

        :param state: CollisionState, or None
        :param fresh: False: the message is old, and no joint has data
        """
        if state is None:
            return []
        markers: list[Marker] = []
        rows = zip(state.name, state.level, state.torque_error, state.threshold, strict=False)
        for index, (name, level, error, threshold) in enumerate(rows):
            if joint := self._joints.get(name):
                share = error / threshold if fresh and level and threshold > 0.0 else 0.0
                markers += self._joint(index, joint, level if fresh else NO_DATA, share)
        text = state.message if fresh else 'no data of the collision monitor'
        worst = max(state.level, default=0) if fresh else NO_DATA
        markers.append(self._text('collision', 0, self._root, text, worst, 2.0 * SIZE))
        stamp = self._node.get_clock().now().to_msg()
        for marker in markers:
            marker.header.stamp = stamp
        return markers

    def publish(self, markers: list[Marker]) -> None:
        """Publish markers, if somebody subscribes."""
        if markers and self.wanted:
            self._publisher.publish(MarkerArray(markers=markers))

    def _joint(self, index: int, joint: UrdfJoint, level: int, share: float) -> Sequence[Marker]:
        ball = self._marker('joint', index, joint.child, Marker.SPHERE, level)
        ball.scale.x = ball.scale.y = ball.scale.z = 0.5 * SIZE
        length = SIZE * max(-2.0, min(2.0, share))
        arrow = self._marker('torque_error', index, joint.child, Marker.ARROW, level)
        x, y, z = (length * float(part) for part in joint.axis)
        arrow.points = [Point(), Point(x=x, y=y, z=z)]
        arrow.scale.x, arrow.scale.y = 0.1 * SIZE, 0.2 * SIZE  # shaft and head
        word = WORDS[level] if 0 <= level < len(WORDS) else 'no data'
        text = f'{joint.name}: {word}, {100.0 * share:.0f} %'
        return ball, arrow, self._text('level', index, joint.child, text, level, 0.4 * SIZE)

    def _text(
        self, kind: str, index: int, frame: str, text: str, level: int, height: float
    ) -> Marker:
        marker = self._marker(kind, index, frame, Marker.TEXT_VIEW_FACING, level)
        marker.color.a = 1.0
        marker.text = text
        marker.pose.position.z = height
        marker.scale.z = 0.2 * SIZE
        return marker

    def _marker(self, kind: str, index: int, frame: str, shape: int, level: int) -> Marker:
        marker = self._kept.get((kind, frame))
        if marker is None:
            marker = self._kept[kind, frame] = Marker(ns=kind, type=shape, action=Marker.ADD)
            marker.header.frame_id = frame
            marker.pose.orientation.w = 1.0
            marker.lifetime = Duration(seconds=1.0).to_msg()
        marker.id = index
        colour = COLOURS.get(level, COLOURS[0])
        marker.color = ColorRGBA(r=colour.r, g=colour.g, b=colour.b, a=colour.a)
        return marker
