# SPDX-License-Identifier: Apache-2.0
"""Recordings of sub-commands, and the declaration of the efforts in them."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.effort.joint_effort import NEEDS, UNITS
from robodyn_ros.control.effort.recorded import bag_declaration, in_si_units
from robodyn_ros.errors import ConfigError
from robodyn_ros.findings import finding
from robodyn_ros.identification.options import LEAVE_ONE_OUT
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.readers import TOPIC, read_recording, recording_format
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.tables.columns import load_columns
from robodyn_ros.robot_file import load_robot

SI_WORDS = ('Nm', 'N', 'SI')
"""Values of `--effort` that need no file."""
RECORDING = 'rosbag2 folder, .mcap, .db3, .bag or a table (docs/reference/formats.md)'
"""Help of the argument of recordings."""
_FACTS = {
    'constant': 'torque_constant (Nm/A)',
    'rated_current': 'rated_current (mA)',
    'rated_torque': 'rated_torque (mNm)',
}
"""Facts of drives as they are written in a file."""


def add_recording(parser: Any) -> None:
    """Add the recording, `--columns`, `--topic` and `--effort`."""
    parser.add_argument('recording', help=RECORDING)
    add_source(parser)


def joint_names(
    arguments: argparse.Namespace, model: DynamicModel | None = None
) -> list[str] | None:
    """Return the names of `--joints`, else those of the model; None: all joints."""
    if arguments.joints is not None:
        return str(arguments.joints).split(',')
    return None if model is None else list(model.joint_names)


def read_in_si_units(
    arguments: argparse.Namespace,
    path: str,
    joints: Sequence[str] | None,
    model: DynamicModel | None = None,
    *,
    undeclared_too: bool = False,
) -> Recording:
    """Read a recording of the command line, with torque in Nm or N at the joint.

    :param joints: joints to read, in this order; None: all that have position and torque
    :param undeclared_too: return efforts that are not declared as recorded, with a finding
    :raises RobodynError: the recording cannot be read, or its efforts are not declared
    """
    declared, columns = read_declarations(arguments), arguments.columns
    recording = read_recording(
        path, columns=columns, topic=arguments.topic, joints=joints, part=arguments.part,
        rename=arguments.rename,
    )  # fmt: skip
    try:
        return in_si_units(recording, path, declared, model, columns=columns)
    except ConfigError as error:
        if not undeclared_too or declared or bag_declaration(path):
            raise
        undeclared = finding('effort_undeclared', reason=str(error))
        return replace(recording, findings=(*recording.findings, undeclared))


def add_source(parser: Any) -> None:
    """Add `--columns`, `--topic` and `--effort`."""
    parser.add_argument(
        '--columns',
        metavar='YAML',
        help='meaning and units of the columns, see docs/recordings.md',
    )
    add_choice(parser)
    parser.add_argument(
        '--effort',
        metavar='FILE|Nm',
        help='meaning of the efforts in a bag without a declaration: a robot file or a YAML file '
        'with effort.* (see config/example_robot.yaml), or Nm: Nm or N at the joint, gravity '
        'included. Tables are in SI units unless --columns gives other units',
    )


def add_choice(parser: Any) -> None:
    """Add `--topic`, `--part` and `--rename`."""
    parser.add_argument(
        '--topic',
        help=f'topic of a bag with joint states: JointState, DynamicJointState or '
        f'JointTrajectoryControllerState (default: {TOPIC}, or the first other one that has the '
        f'joints with position and effort)',
    )
    parser.add_argument(
        '--part',
        type=int,
        metavar='N',
        help='part of a bag whose clock went back, or in which several publishers send the same '
        'joints (default: the one with most messages)',
    )
    parser.add_argument(
        '--rename',
        action='append',
        default=[],
        metavar='PATTERN=NAME',
        help="rename the joints of the recording that match, as 'robot1_(.*)=\\1'",
    )


def read_declarations(arguments: argparse.Namespace) -> list[EffortDeclaration]:
    """Return the declarations of `--effort` and of the robot file, as far as they are given.

    `in_si_units` refuses those that differ.

    :raises RobodynError: a file cannot be used, `--effort` has no effect because no recording is a
        bag, or `--columns` declares the torque too
    """
    given = arguments.effort
    of_robot = _effort_of_robot(getattr(arguments, 'robot', None))
    if given is None:
        return of_robot
    columns = getattr(arguments, 'columns', None)
    # a mapping converts to SI units itself
    if given not in SI_WORDS and columns is not None and 'torque' in load_columns(columns):
        raise ConfigError(
            f'--effort {given} and --columns {columns} both declare the torque of the recording: '
            f'leave out --effort, or the key torque of the mapping'
        )
    return [_parse_declaration(arguments, given), *of_robot]


def _parse_declaration(arguments: argparse.Namespace, given: str) -> EffortDeclaration:
    if given in SI_WORDS:
        return EffortDeclaration.si(source=f'--effort {given}')
    if given in UNITS:
        raise ConfigError(
            f'--effort {given}: a unit alone is not enough, {given} needs '
            f'{" and ".join(_FACTS[need] for need in NEEDS[given])}. Write a file with effort: '
            f'{{unit: {given}, side: motor, gravity: included, gear_ratio: 100, ...}} and give '
            f'--effort FILE, see config/example_robot.yaml'
        )
    _check_file(given)
    recording = arguments.recording
    paths = [*recording] if isinstance(recording, list) else [recording]
    if getattr(arguments, 'validate', None) not in (None, LEAVE_ONE_OUT):
        paths.append(arguments.validate)
    if not any(recording_format(path).startswith('rosbag') for path in paths):
        raise ConfigError(
            f'--effort {given} is for bags: {paths[0]} is a table, in SI units unless '
            f'--columns gives other units'
        )
    return EffortDeclaration.from_file(given)


def _check_file(given: str) -> None:
    """Refuse a word that is no file, such as a unit in lower case, with the nearest right one."""
    if Path(given).suffix or '/' in given or Path(given).exists():
        return
    units = {unit.lower(): unit for unit in UNITS}
    near = difflib.get_close_matches(given.lower(), units, 1)
    meant = f'; did you mean {units[near[0]]}?' if near else ''
    raise ConfigError(
        f'--effort {given}: expected {", ".join(SI_WORDS)} (Nm or N at the joint, gravity '
        f'included), or the path of a file with section effort, such as my_robot.yaml; there is '
        f'no file {given}{meant}'
    )


def _effort_of_robot(name: str | None) -> list[EffortDeclaration]:
    """Return the declaration in a robot file; empty: there is no file, or none in it."""
    robot = load_robot(name) if name is not None else None
    if robot is None or 'effort' not in robot.content:
        return []
    return [EffortDeclaration.from_file(robot.reference)]
