# SPDX-License-Identifier: Apache-2.0
"""Commands that use a result: feed-forward and collision monitoring."""

from __future__ import annotations

import shlex
from pathlib import Path

NO_ROBOT = 'MY_ROBOT.yaml'
"""Place of the robot file in commands, where none was named."""


def next_steps(result_file: Path, robot: str) -> list[tuple[str, str]]:
    """Return purpose and command of each step that follows a successful identification.

    :param robot: name of a robot of this package, or path of a robot file; '': none was named
    """
    model = shlex.quote(str(result_file.absolute()))
    arguments = f'robot:={shlex.quote(robot or NO_ROBOT)} result_file:={model}'
    return [
        ('feed-forward', f'ros2 launch robodyn_ros feedforward.launch.py {arguments}'),
        ('thresholds', f'robodyn thresholds HEALTHY1 HEALTHY2 --model {model}'),
        ('monitoring', f'ros2 launch robodyn_ros collision_monitor.launch.py {arguments}'),
    ]
