# SPDX-License-Identifier: Apache-2.0
"""Model and recordings of the sub-commands for collision detection."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from robodyn_ros.analysis.thresholds.session import Mask, rest_of_reference
from robodyn_ros.cli.effort import add_source
from robodyn_ros.cli.output import result_file
from robodyn_ros.control.robot_check import check_possible
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.recording.bags.commands import command_topic, command_topics, references
from robodyn_ros.recording.bags.topic_bag import topic_types
from robodyn_ros.recording.readers import recording_format
from robodyn_ros.recording.recording import Recording


def add_model(parser: Any, *, required: bool = True) -> None:
    """Add `--model`, `--velocity-window` and the options of recordings."""
    parser.add_argument(
        '--model',
        required=required,
        type=result_file,
        metavar='RESULT',
        help='result.yaml of `robodyn identify`, or its folder',
    )
    parser.add_argument(
        '--velocity-window',
        type=float,
        default=0.01,
        help='Coulomb friction is a straight line within this speed [rad/s or m/s], as the '
        'parameter of the node (default: %(default)s)',
    )
    parser.add_argument(
        '--command',
        metavar='TOPIC',
        help='topic of commanded positions in a rosbag2, as of `robodyn delay`: while they rest, '
        'a change of the torque error counts (default: the only one in the bag, or none)',
    )
    add_source(parser)


def load(arguments: argparse.Namespace) -> tuple[IdentifiedModel, ModelTorque]:
    """Load the model of `--model` with its payload, and its torque.

    :raises RobodynError: the file cannot be used, or no robot has its parameters
    """
    identified = load_identified_model(arguments.model)
    check_possible(identified)
    window = arguments.velocity_window
    return identified, ModelTorque(identified.model, identified.loaded, velocity_window=window)


def choose_joints(arguments: argparse.Namespace, identified: IdentifiedModel) -> list[bool]:
    """Return which joints are monitored; the others, not usable, are named on stderr.

    :raises IdentificationError: `--allow-joints` has a joint that the model does not have
    """
    refused = identified.verdict.list_refused('monitoring', arguments.allow_joints)
    for joint, reason in refused.items():
        print(f'note: joint {joint} is not usable, it is unmonitored ({reason})', file=sys.stderr)
    return [name not in refused for name in identified.joints]


def rests_in(
    arguments: argparse.Namespace, path: str, recording: Recording, joints: tuple[str, ...]
) -> Mask | None:
    """Return the samples at which the reference rests, shape (N,); None: there is no reference.

    :param joints: of the model; the reference must have all of them
    :raises RobodynError: the topic of `--command` cannot be used
    """
    wanted = arguments.command
    types = topic_types(path) if recording_format(path).startswith('rosbag') else {}
    if wanted is None and len(command_topics(types)) != 1:
        return None
    topic = command_topic(types, wanted, path)
    if topic == recording.topic:
        if wanted is None:
            return None
        raise RecordingError(f'{path}: {topic} has the measured positions, not the commanded ones')
    rests = rest_of_reference(
        recording.time,
        references(path, topic, joints, recording.origin, recording.part),
        len(joints),
    )
    if rests is None and wanted is not None:
        raise RecordingError(
            f'{path}: {topic} has no commanded positions of {list(joints)!s:.300}'
        )
    return rests
