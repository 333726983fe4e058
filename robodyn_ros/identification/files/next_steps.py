# SPDX-License-Identifier: Apache-2.0
"""Text that an operator reads after an identification: result, files, next commands."""

from __future__ import annotations

import shlex
from pathlib import Path

from robodyn_ros.identification.files.export import Exported
from robodyn_ros.identification.files.report import text_report
from robodyn_ros.identification.result.payload_forms import payload_forms
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.identification.result.summary import LINES

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


def format_result(
    result: IdentificationResult, files: Exported | None, *, verbose: bool = False
) -> str:
    """Return what an operator reads: the result, the files and the next commands.

    :param verbose: all parameters and findings in full; otherwise at most `LINES` lines
    """
    end = list_files(result, files)
    text = text_report(result) if verbose else result.summary(LINES - len(end) - 1)
    return '\n'.join([text, '', *end])


def list_files(result: IdentificationResult, files: Exported | None) -> list[str]:
    """Return which files were written, and the next commands."""
    if files is None:
        return [_next_without_files(result)]
    names = ', '.join(path.name for path in files.paths)
    lines = [f'written to {files.facts.parent}: {names}']
    if files.result is None:
        return ['no model is exported, as nothing of it can be used', *lines, _AGAIN]
    if not result.verdict.worth_writing:
        return [f'{lines[0]} (forced: nothing of it can be used)', _AGAIN]
    bad = [each.joint for each in result.verdict.joints if each.moved and not each.works]
    if bad:
        names = ', '.join(bad)
        lines.append(f'{names}: no feed-forward and no monitoring, unless allowed_joints names it')
    steps = next_steps(files.result, files.robot, files.command)
    lines += [f'next, {purpose}: {command}' for purpose, command in steps]
    return [*lines, *(f'payload for {robot}: {text}' for robot, text in forms_of(result))]


def forms_of(result: IdentificationResult) -> list[tuple[str, str]]:
    """Return the identified payload in the forms of robots; empty: there is none."""
    return [] if result.carried is None else payload_forms(result.carried)


_AGAIN = 'next: correct what is listed above, then repeat the command'


def _next_without_files(result: IdentificationResult) -> str:
    return (
        _AGAIN
        if not result.verdict.worth_writing
        else 'next: add --out DIR, which writes the model'
    )
