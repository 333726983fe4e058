# SPDX-License-Identifier: Apache-2.0
"""Topics that the live page shows, and the way of their messages to its board."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.serial.urdf_file import UrdfFile
from robodyn_ros.msg import CollisionState, IdentificationReport, TorqueState
from robodyn_ros.nodes.base.clock import seconds_of
from robodyn_ros.nodes.base.common import LATCHED_QOS, best_effort
from robodyn_ros.nodes.robot.effort import EffortParameters
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.nodes.robot.phases import phase_name
from robodyn_ros.nodes.watch.scene_input import SceneInput
from robodyn_ros.nodes.watch.taps import Taps
from robodyn_ros.watch.board import Board
from robodyn_ros.watch.scene import moving_joints
from robodyn_ros.wire.cursor import Cursor
from robodyn_ros.wire.joint_state import STAMP_END

MONITOR = 'collision_monitor/collision_state'


class LevelChanges:
    """Choice of the collision states that must be read: the last one, and each change of levels.

    Reading all of them takes 1 % of a core at 500 Hz.
    """

    def __init__(self) -> None:
        """Start without a message."""
        self._start, self._level = b'', b''

    def is_wanted(self, data: bytes, last: bool) -> bool:
        """Return True if the levels of a serialised message differ from those before, or `last`.

        :raises WireError: it is no CollisionState
        """
        start = len(self._start)
        if not start or data[STAMP_END : STAMP_END + start] != self._start:
            return self._learn(data)
        level = data[STAMP_END + start : STAMP_END + start + len(self._level)]
        changed, self._level = level != self._level, level
        return changed or last

    def _learn(self, data: bytes) -> bool:
        """Find the levels behind frame, names and their count."""
        cursor = Cursor(data)
        cursor.time()
        cursor.text()
        cursor.texts()
        count = cursor.count()
        self._start = data[STAMP_END : cursor.at]
        self._level = data[cursor.at : cursor.at + count]
        return True


class MeasuredTorque:
    """Torque of some joints from joint states whose effort is declared."""

    def __init__(self, joints: tuple[str, ...], effort: EffortParameters) -> None:
        """Prepare for these joints."""
        self.joints = joints
        self._reader = JointStateReader(joints, ('effort',))
        self._conversion: EffortConversion | None = None
        with suppress(ConfigError):  # a joint that is not declared: the torque is not known
            self._conversion = effort.for_joints(joints)

    def read(self, message: Any) -> dict[str, float]:
        """Return the torque by joint, in [Nm] or [N]; {} if it is not known."""
        if self._conversion is None or self._reader.read(message):
            return {}
        torque = self._conversion.feedback(self._reader.effort)
        return dict(zip(self.joints, torque.tolist(), strict=True))


class Inputs:
    """Reader of all topics.

    Measured torque comes from the feed-forward. While that sends none, it comes from the joint
    states, if the effort is declared in the parameters `effort.*`. Positions come from the
    collision monitor, or else from the joint states: to receive these at 500 Hz takes 1 % of a
    core.

    :ivar monitor: last message of the collision monitor, or None
    :ivar scene: source of the three-dimensional view; None: the robot is not known
    """

    def __init__(
        self, node: Node, board: Board, effort: EffortParameters, urdf: UrdfFile | None
    ) -> None:
        """Subscribe.

        :param urdf: robot of the three-dimensional view; None: it is not known
        """
        self._board, self._effort = board, effort
        self._measured: MeasuredTorque | None = None
        self.monitor: CollisionState | None = None
        self.taps = Taps(node)
        self.scene = SceneInput(self.taps, urdf) if urdf and moving_joints(urdf) else None
        # All messages of 50 ms at 1 kHz: a contact of one sample must not be missed.
        wanted = LevelChanges().is_wanted
        self.taps.add(CollisionState, MONITOR, self._on_monitor, best_effort(64), wanted)
        self.taps.add(TorqueState, 'feedforward/torque_state', self._on_torque, best_effort(1))
        self.taps.add(DiagnosticArray, '/diagnostics', self._on_diagnostics, best_effort(32))
        self.taps.add(IdentificationReport, 'identification/report', self._on_report, LATCHED_QOS)
        for action, name, task in (
            (Excite, 'excitation/excite', 'excitation'),
            (RunIdentification, 'identification/run_identification', 'identification'),
        ):
            kind, topic = action.Impl.FeedbackMessage, f'{name}/_action/feedback'
            self.taps.add(kind, topic, partial(self._on_feedback, task), best_effort(1))

    def poll_levels(self) -> bytes:
        """Take what has come from the collision monitor; return the last levels."""
        self.taps.poll(MONITOR)
        return b'' if self.monitor is None else bytes(self.monitor.level)

    def poll(self, *, pages: bool) -> None:
        """Take what has come since the last call."""
        self.taps.poll()
        shown = pages and self.scene is not None and not self.scene.monitored
        if self._measures or shown:
            self.taps.add(JointState, 'joint_states', self._on_joint_states, best_effort(1))
        else:
            self.taps.remove('joint_states')

    @property
    def _measures(self) -> bool:
        """True if the joint states are the source of measured torque."""
        return self._effort.declaration is not None and not self._board.fresh('feedforward')

    def _on_monitor(self, message: Any) -> None:
        self.monitor = message
        if self.scene is not None:
            self.scene.take_monitored(message.name, message.position)
        self._board.monitor(
            message.name,
            message.level,
            message.torque_error,
            message.threshold,
            latched=message.latched,
            message=message.message,
            muted=message.muted,
        )

    def _on_torque(self, message: Any) -> None:
        columns = {
            'requested': message.requested,
            'additive': message.additive_command,
            'feedback': message.feedback,
        }
        self._board.feedforward(
            message.name,
            columns,
            enabled=message.enabled,
            fault=message.fault,
        )

    def _on_joint_states(self, message: Any) -> None:
        if self.scene is not None:
            self.scene.take(message)
        joints = tuple(self._board.joints)
        if not joints or not self._measures:
            return
        if self._measured is None or joints != self._measured.joints:
            self._measured = MeasuredTorque(joints, self._effort)
        if torque := self._measured.read(message):
            self._board.take_torque(torque)

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values[:40]}
            level = int.from_bytes(status.level, 'little')
            self._board.diagnostics.take(status.name, level, status.message, values)

    def _on_feedback(self, task: str, message: Any) -> None:
        feedback = message.feedback
        text = feedback.message
        if task == 'excitation':
            text = f'{seconds_of(feedback.remaining):.1f} s left'
        self._board.progress(task, phase_name(feedback), feedback.progress, text)

    def _on_report(self, message: Any) -> None:
        text = f'identified: {message.result_file}' if message.success else 'identification failed'
        if message.report_file:
            text += f'; report: {message.report_file}'
        severity = 'info' if message.success else 'error'
        self._board.events.add('identification', severity, text)
