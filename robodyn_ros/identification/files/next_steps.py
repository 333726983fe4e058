# SPDX-License-Identifier: Apache-2.0
"""Commands that use a result: feed-forward and collision monitoring."""

from __future__ import annotations

import shlex
from pathlib import Path

NO_ROBOT = 'MY_ROBOT.yaml'
"""Place of the robot file in commands, where none was named."""


THRESHOLDS = 'thresholds.yaml'
"""File that the command of thresholds writes and that of the monitor reads."""
_READING = ('--columns', '--topic', '--effort')


def next_steps(result_file: Path, robot: str, command: str = '') -> list[tuple[str, str]]:
    """Return purpose and command of each step that follows a successful identification.

    :param robot: name of a robot of this package, or path of a robot file; '': none was named
    :param command: how the identification was started; recordings of thresholds are read alike
    """
    model = shlex.quote(str(result_file.absolute()))
    arguments = f'robot:={shlex.quote(robot or NO_ROBOT)} result_file:={model}'
    return [
        ('feed-forward', f'ros2 launch robodyn_ros feedforward.launch.py {arguments}'),
        (
            'thresholds',
            f'robodyn thresholds HEALTHY1 HEALTHY2 --model {model}{_reading(command)} '
            f'--out {THRESHOLDS}',
        ),
        ('monitoring', monitoring(result_file, robot, THRESHOLDS)),
    ]


def monitoring(result_file: Path, robot: str, thresholds: str) -> str:
    """Return the command of the collision monitor, which needs thresholds."""
    model = shlex.quote(str(result_file.absolute()))
    return (
        f'ros2 launch robodyn_ros collision_monitor.launch.py '
        f'robot:={shlex.quote(robot or NO_ROBOT)} result_file:={model} '
        f'thresholds:={shlex.quote(thresholds)}'
    )


def _reading(command: str) -> str:
    """Return the options of a command of `robodyn` that say how to read a recording."""
    words = shlex.split(command) if command.startswith('robodyn ') else []
    options: list[str] = []
    for place, word in enumerate(words):
        if word in _READING:
            options += words[place : place + 2]
        elif word.partition('=')[0] in _READING:
            options.append(word)
    return ''.join(f' {shlex.quote(word)}' for word in options)
