# SPDX-License-Identifier: Apache-2.0
"""Collision monitoring in the demonstration: thresholds and received alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from robodyn_ros.analysis.collision_thresholds import ThresholdProposal, propose_thresholds
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.msg import CollisionState
from robodyn_ros.nodes.base.clock import nanoseconds_of
from robodyn_ros.nodes.robot.model_node import single
from robodyn_ros.recording.readers import read_recording

SETTINGS = ('period', 'low_velocity', 'low_velocity_hold', 'torque_error_filter', 'filter_cutoff')
"""Parameters of the collision monitor on which the torque error depends."""


def thresholds(
    identified: IdentifiedModel,
    recordings: Sequence[Path],
    given: Mapping[str, Any],
    margin: float,
) -> ThresholdProposal:
    """Propose thresholds from motions without contact.

    :param margin: collision threshold relative to the largest torque error, larger than 1.25
    """
    values = {name: single(given[name]) for name in SETTINGS if name in given}
    torque = ModelTorque(
        identified.model,
        identified.values,
        velocity_window=single(given.get('velocity_window', [0.01])),
    )
    settings = CollisionSettings(joints=identified.joints, max_torque_error=1.0, **values)
    # Motions of seconds cover less than daily work, so the margins are wider than the defaults.
    proposals = (
        propose_thresholds(
            read_recording(path, joints=identified.joints), torque, settings,
            contact_factor=0.8 * margin, collision_factor=margin,
        )
        for path in recordings
    )  # fmt: skip
    return reduce(ThresholdProposal.join, proposals)


@dataclass
class Alarms:
    """Messages of the collision monitor, counted by level."""

    collisions: int = 0
    unknown: int = 0
    samples: int = 0
    first_collision: int = 0

    @property
    def unmonitored(self) -> float:
        """Share of samples without monitoring; NaN if there are no samples."""
        return self.unknown / self.samples if self.samples else float('nan')

    def take(self, message: CollisionState) -> None:
        """Count one message."""
        worst = max(message.level, default=CollisionState.UNKNOWN)
        self.samples += 1
        self.unknown += min(message.level, default=0) == CollisionState.UNKNOWN
        if worst == CollisionState.COLLISION:
            self.collisions += 1
            if not self.first_collision:
                self.first_collision = nanoseconds_of(message.header.stamp)
