# SPDX-License-Identifier: Apache-2.0
"""Robots of this package that the demonstration can show."""

from pathlib import Path

from robodyn_ros.robot_file import load_robot

FOLDER = Path(__file__).resolve().parents[2] / 'config' / 'robots'
DEMO_ROBOTS = tuple(
    path.stem for path in sorted(FOLDER.glob('*.yaml')) if 'demo' in load_robot(path).content
)
