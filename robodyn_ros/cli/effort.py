# SPDX-License-Identifier: Apache-2.0
"""Recordings of sub-commands, and the declaration of the efforts in them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.effort.joint_effort import NEEDS, UNITS
from robodyn_ros.control.effort.recorded import in_si_units
from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.options import LEAVE_ONE_OUT
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.readers import read_recording, recording_format
from robodyn_ros.recording.recording import Recording
from robodyn_ros.robot_file import load_robot

_FACTS = {
    'constant': 'torque_constant (Nm/A)',
    'rated_current': 'rated_current (mA)',
    'rated_torque': 'rated_torque (mNm)',
}
"""Facts of drives as they are written in a file."""


def add_recording(parser: Any) -> None:
    """Add the recording, `--columns`, `--topic` and `--effort`."""
    parser.add_argument('recording', help='rosbag2 folder, .mcap, .db3, .csv, .npz or .mat')
    add_source(parser)


def joint_names(arguments: argparse.Namespace) -> list[str] | None:
    """Return the names of `--joints`; None: all joints."""
    return None if arguments.joints is None else str(arguments.joints).split(',')


def read_in_si_units(
    arguments: argparse.Namespace, joints: Sequence[str] | None, model: DynamicModel | None = None
) -> Recording:
    """Read the recording of the command line, with torque in Nm or N at the joint.

    :param joints: joints to read, in this order; None: all
    :param model: model with the joints' units, where it is known
    :raises RobodynError: the recording cannot be read, or its efforts are not declared
    """
    declared = declared_effort(arguments)
    path, columns = arguments.recording, arguments.columns
    recording = read_recording(path, columns=columns, topic=arguments.topic, joints=joints)
    return in_si_units(recording, path, declared, model, columns=columns)


def add_source(
    parser: Any, *, topic: str | None = '/joint_states', default: str = '/joint_states'
) -> None:
    """Add `--columns`, `--topic` and `--effort`.

    :param default: description of the default topic
    """
    parser.add_argument(
        '--columns',
        metavar='YAML',
        help='meaning and units of the columns, see docs/recordings.md',
    )
    parser.add_argument(
        '--topic', default=topic, help=f'JointState topic of a bag (default: {default})'
    )
    parser.add_argument(
        '--effort',
        metavar='FILE|Nm',
        help='meaning of the efforts in a bag without a declaration: a robot file or a YAML file '
        'with effort.* (see config/example_robot.yaml), or Nm: Nm or N at the joint, gravity '
        'included. CSV, NPZ and MAT files are in SI units',
    )


def declared_effort(arguments: argparse.Namespace) -> EffortDeclaration | None:
    """Return the declaration of `--effort` or else of the robot file; None: there is neither.

    :raises RobodynError: its file cannot be used, or `--effort` is given and no recording is a bag
    """
    given = arguments.effort
    if given is None:
        return _effort_of_robot(getattr(arguments, 'robot', None))
    if given in ('Nm', 'N', 'SI'):
        return EffortDeclaration.si(source=f'--effort {given}')
    if given in UNITS:
        raise ConfigError(
            f'--effort {given}: a unit alone is not enough, {given} needs '
            f'{" and ".join(_FACTS[need] for need in NEEDS[given])}. Write a file with effort: '
            f'{{unit: {given}, side: motor, gravity: included, gear_ratio: 100, ...}} and give '
            f'--effort FILE, see config/example_robot.yaml'
        )
    recording = arguments.recording
    paths = [*recording] if isinstance(recording, list) else [recording]
    if getattr(arguments, 'validate', None) not in (None, LEAVE_ONE_OUT):
        paths.append(arguments.validate)
    if not any(recording_format(path) == 'rosbag2' for path in paths):
        raise ConfigError(
            f'--effort {given} is for bags: {paths[0]} is a table, in SI units unless '
            f'--columns gives other units'
        )
    return EffortDeclaration.from_file(given)


def _effort_of_robot(name: str | None) -> EffortDeclaration | None:
    """Return the declaration in a robot file; None: there is no file, or none in it."""
    robot = load_robot(name) if name is not None else None
    if robot is None or 'effort' not in robot.content:
        return None
    return EffortDeclaration.from_file(robot.reference)
