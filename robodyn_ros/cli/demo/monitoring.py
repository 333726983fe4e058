"""Collision monitoring in the demonstration: thresholds for it, and what it said."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn_ros.analysis.collision_thresholds import ThresholdProposal, propose_thresholds
from robodyn_ros.control.collision import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.msg import CollisionState
from robodyn_ros.nodes.robot.model_node import expanded
from robodyn_ros.recording.readers import read_recording

SETTINGS = ('period', 'low_velocity', 'low_velocity_hold', 'torque_error_filter', 'filter_cutoff')
"""Parameters of the collision monitor on which the torque error depends."""


def thresholds(
    identified: IdentifiedModel, recording: Path, given: Mapping[str, Any]
) -> ThresholdProposal:
    """Propose thresholds from a healthy motion.

    :param given: parameters of the collision monitor that will use them
    """
    values = {name: expanded_list(given[name]) for name in SETTINGS if name in given}
    torque = ModelTorque(
        identified.model,
        identified.values,
        velocity_window=expanded_list(given.get('velocity_window', [0.01])),
    )
    # 20 s show less than a day of work does, so the margin is wider than the default
    return propose_thresholds(
        read_recording(recording, joints=identified.joints),
        torque,
        CollisionSettings(joints=identified.joints, max_torque_error=1.0, **values),
        contact_factor=2.0,
        collision_factor=2.5,
    )


def expanded_list(value: Any) -> Any:
    """Give a list of one value as that value, which stands for all joints."""
    return expanded(value) if isinstance(value, list) else value


@dataclass
class Alarms:
    """What the collision monitor said while it was watched."""

    collisions: int = 0
    unknown: int = 0
    samples: int = 0
    first_collision: int = 0
    seen: float = 0.0

    @property
    def unmonitored(self) -> float:
        """Share of samples without a verdict; NaN when there was none at all."""
        return self.unknown / self.samples if self.samples else float('nan')

    def take(self, message: CollisionState) -> None:
        """Count one message."""
        worst = max(message.level, default=CollisionState.UNKNOWN)
        self.samples += 1
        self.unknown += min(message.level, default=0) == CollisionState.UNKNOWN
        if worst == CollisionState.COLLISION:
            self.collisions += 1
            if not self.first_collision:
                stamp = message.header.stamp
                self.first_collision = stamp.sec * 1_000_000_000 + stamp.nanosec
                self.seen = time.time()


@dataclass(frozen=True)
class Latency:
    """From the begin of a push to its alarm, in [s].

    :param sample: to the stamp of the joint states that gave the alarm
    :param wall: until the alarm was in the hands of another process
    """

    sample: float
    wall: float
