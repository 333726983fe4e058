# SPDX-License-Identifier: Apache-2.0
"""A trajectory that waits for its torque, of the topic or of a goal, and what plans it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Arrived:
    """A serialised trajectory_msgs/JointTrajectory, and what becomes of it.

    :param send: sends the serialised trajectory with its torque to the controller
    :param refuse: reports why it is not sent
    """

    serialised: bytes
    send: Callable[[bytes], None]
    refuse: Callable[[str], None]


class Planning(Protocol):
    """A planner of the received trajectories, one after the other."""

    @property
    def running(self) -> bool:
        """True if the node is active."""

    def put(self, arrived: Arrived) -> None:
        """Plan a trajectory after those that arrived before it, then send it."""

    def withdraw(self, arrived: Arrived) -> None:
        """Do not send a trajectory, if it was not sent yet."""

    def refuse_trajectory(self, why: str) -> None:
        """Count and log a trajectory that is not sent."""

    def restore(self) -> None:
        """Return to the plan before the last one, which the controller does not execute."""

    def goal_accepted(self) -> None:
        """Remove the torque if it was disabled while the last goal was sent."""
