# SPDX-License-Identifier: Apache-2.0
"""Positions and markers for the three-dimensional view of the live page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from visualization_msgs.msg import Marker

from robodyn_ros.models.serial.urdf_file import UrdfFile
from robodyn_ros.nodes.base.common import LATCHED_QOS, best_effort
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.nodes.watch.taps import Taps
from robodyn_ros.watch.scene import Scene
from robodyn_ros.watch.source import DataAge

CONTACT = 'collision_monitor/contact_marker'


class SceneInput:
    """Source of the view: robot, planned path and contact, from the messages that RViz reads."""

    def __init__(self, taps: Taps, urdf: UrdfFile) -> None:
        """Subscribe to the markers of other nodes."""
        self._scene = Scene(urdf)
        self._reader = JointStateReader(self._scene.joints, ('position',))
        self._positions = DataAge(0.5)  # as the data of the board
        self._monitored = DataAge(0.5)
        self._contact = DataAge(1.0)  # the monitor repeats it ten times in this time
        self._others: dict[str, Marker] = {}
        for topic, qos in {CONTACT: best_effort(1), 'excitation/path': LATCHED_QOS}.items():
            taps.add(Marker, topic, partial(self._on_marker, topic), qos, _small)

    def robot(self) -> str:
        """Return the shapes of the robot, as JSON."""
        return self._scene.robot()

    def take(self, message: Any) -> None:
        """Take joint states; those without all joints of the robot are left out."""
        if not self._reader.read(message) and np.isfinite(self._reader.position).all():
            self._positions.note_data()

    @property
    def monitored(self) -> bool:
        """True if the collision monitor sends the positions of all joints."""
        return self._monitored.fresh

    def take_monitored(self, names: Sequence[str], position: Sequence[float]) -> None:
        """Take the positions in a CollisionState, if all joints of the robot are there."""
        positions = dict(zip(names, position, strict=False))
        values = np.array([positions.get(joint, np.nan) for joint in self._scene.joints])
        if np.isfinite(values).all():
            self._reader.position[:] = values
            self._positions.note_data()
            self._monitored.note_data()

    def frame(self, markers: Sequence[Marker]) -> str | None:
        """Return the present picture as JSON; None: the robot's position was never known.

        :param markers: of the torque errors
        """
        if self._positions.age is None:
            return None
        if not self._contact.fresh:
            self._others.pop(CONTACT, None)
        # The page has the message of the monitor at its top.
        drawn = [*self._others.values(), *(each for each in markers if each.ns != 'collision')]
        return self._scene.frame(self._reader.position, drawn, fresh=self._positions.fresh)

    def _on_marker(self, topic: str, marker: Any) -> None:
        self._others[topic] = marker
        if topic == CONTACT:
            self._contact.note_data()


def _small(data: bytes, last: bool) -> bool:
    """Return True for the last marker, if it has at most 10 000 points."""
    return last and len(data) < 250_000
