# SPDX-License-Identifier: Apache-2.0
"""URDF of a robot of this package that takes it from its driver: that of the fake driver."""

from __future__ import annotations

from pathlib import Path

from bench.first_day.kinds import KINDS
from robodyn_ros.robot_file import load_robot


def urdf_of(robot: Path, folder: Path) -> str:
    """Return the path of the URDF of a robot file; one that is made is in `folder`."""
    found = load_robot(robot).urdf
    if found or 'urdf' not in load_robot(robot).content:
        return found
    (kind,) = (kind for kind in KINDS.values() if kind.robot == robot.stem)
    return str(kind.plant(folder)[0])
