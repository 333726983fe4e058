"""How sub-commands are told to read a recording, and what the efforts in it are."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.options import LEAVE_ONE_OUT
from robodyn_ros.recording.readers import recording_format

SI_WORDS = ('Nm', 'N', 'SI')


def add_source(parser: Any) -> None:
    """Add `--columns`, `--topic` and `--effort`."""
    parser.add_argument('--columns', metavar='YAML', help='what the columns of the file mean')
    parser.add_argument(
        '--topic', default='/joint_states', help='JointState topic of a bag (default: %(default)s)'
    )
    add_effort(parser)


def add_effort(parser: Any) -> None:
    """Add `--effort` alone."""
    parser.add_argument(
        '--effort',
        metavar='FILE|Nm',
        help='what the efforts in a bag are, where its recorder did not say: a robot file or a '
        'YAML file with effort.* (see config/example_robot.yaml), or Nm: Nm or N at the joint, '
        'gravity included; CSV, NPZ and MAT are in SI',
    )


def declared_effort(arguments: argparse.Namespace) -> EffortDeclaration | None:
    """Return the declaration of the option, or None if it is not given.

    :raises RobodynError: its file cannot be used, or there is no bag that it could be for
    """
    given = arguments.effort
    if given is None:
        return None
    if given in SI_WORDS:
        return EffortDeclaration.si(source=f'--effort {given}')
    recording = arguments.recording
    paths = [*recording] if isinstance(recording, list) else [recording]
    if getattr(arguments, 'validate', None) not in (None, LEAVE_ONE_OUT):
        paths.append(arguments.validate)
    if not any(recording_format(path) == 'rosbag2' for path in paths):
        raise ConfigError(
            f'--effort {given} is for bags: {paths[0]} is a table, in SI unless '
            f'--columns gives other units'
        )
    return EffortDeclaration.from_file(given)
