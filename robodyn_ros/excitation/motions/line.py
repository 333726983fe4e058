# SPDX-License-Identifier: Apache-2.0
"""Straight line of the tool from rest to rest, with a phase of constant speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn_ros.excitation.motions.speed_profile import SpeedProfile
from robodyn_ros.excitation.motions.tool_moves import ToolMoves
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.models.kinematics_base import Kinematics


class LineMotion(ToolMoves):
    """A straight line of the tool; a rotation is proportional to the travelled distance."""

    kind = 'line'
    what = 'line'

    def __init__(
        self,
        *,
        joints: Sequence[str],
        robot: Kinematics | Mapping[str, object],
        start: Sequence[float] | Array,
        target: Sequence[float] | Array,
        speed: float,
        acceleration: float,
        jerk: float | None = None,
        near: Sequence[float] | Array | None = None,
    ) -> None:
        """Check the line; see `ToolMoves` for the arguments.

        :param target: pose (p,), or its place (3,) only
        :raises MotionError: wrong counts, a start equal to the target, invalid limits, or a line
            outside the workspace or through a singular position
        """
        super().__init__(
            joints=joints, robot=robot, start=start, moves=[{'target': target}], speed=speed,
            acceleration=acceleration, jerk=jerk, near=near,
        )  # fmt: skip
        self.target = self._corners[-1]

    @property
    def profile(self) -> SpeedProfile:
        """Speed profile along the line."""
        return self.schedule.profiles[0]
