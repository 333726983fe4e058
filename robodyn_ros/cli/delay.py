"""`robodyn delay`: the additive torque delay that a recording shows."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

import numpy as np

from robodyn_ros.analysis.delay import (
    DelayEstimate,
    Samples,
    configured_delay,
    delay_estimate,
    delay_findings,
    position_lags,
)
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.joint_state_decoder import MSGTYPE as JOINT_STATE
from robodyn_ros.recording.bags.topic_bag import (
    TORQUE_STATE,
    TRAJECTORY_STATE,
    Values,
    read_topic,
    topic_types,
)
from robodyn_ros.recording.finding import Finding
from robodyn_ros.recording.readers import read_recording, recording_format

EXIT_WRONG = 1
READ = 'ros2 bag record /joint_states /joint_trajectory_controller/controller_state'


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        'delay',
        help='find the additive torque delay, and whether the one that is set fits',
        description='Tell from a rosbag2 with joint states and commanded positions how many '
        'cycles the motion comes after its command, which is what additive_torque_delay of the '
        'feed-forward is to be set to. With torque_state of a running feed-forward in the bag '
        'the delay that is set is held against it. The exit code is 1 if it is wrong, or the '
        'delay cannot be told.',
    )
    parser.add_argument('recording', help='folder of a rosbag2')
    parser.add_argument(
        '--topic', default='/joint_states', help='measured positions (default: %(default)s)'
    )
    parser.add_argument(
        '--command',
        dest='command_topic',
        metavar='TOPIC',
        help='commanded positions: controller_state of a joint_trajectory_controller, or a '
        'JointState (default: the only one there is)',
    )
    parser.add_argument('--period', type=_period, help='servo period [s] (default: as recorded)')
    parser.add_argument(
        '--configured', type=int, help='additive_torque_delay that is set (default: as recorded)'
    )
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(run=run)


def _period(text: str) -> float:
    period = float(text)
    if not 0.0 < period < np.inf:
        raise argparse.ArgumentTypeError(f'a period is a positive time in s, got {text}')
    return period


def run(arguments: argparse.Namespace) -> int:
    """Estimate, compare and print; 0 if nothing speaks against the delay that is set.

    :raises RobodynError: the bag cannot be read, or has not the topics that are needed
    """
    path = arguments.recording
    if recording_format(path) != 'rosbag2':
        raise RecordingError(f'{path}: a delay is told from a rosbag2 with commanded positions')
    types = topic_types(path)
    topic = command_topic(types, arguments.command_topic, path)
    measured = read_recording(path, topic=arguments.topic)
    command = read_topic(path, topic, measured.joints, _positions)
    measured = measured.select(command.joints)
    start = (command.stamps - measured.origin) / 1e9
    period = arguments.period or float(min(measured.period, np.median(np.diff(start))))
    lags = position_lags(
        Samples(start, command.signals[0]),
        Samples(measured.time, measured.position),
        measured.joints,
        period=period,
    )
    estimate = delay_estimate(lags)
    configured = arguments.configured
    if configured is None:
        configured = _recorded_delay(path, types, measured.joints)
    findings = delay_findings(estimate, configured)
    facts = summary(estimate, findings, topic, period, configured)
    print(
        json.dumps(facts, indent=2, allow_nan=False) if arguments.json else table(facts, findings)
    )
    return EXIT_WRONG if any(f.code in ('delay_wrong', 'delay_unknown') for f in findings) else 0


def command_topic(types: dict[str, str], wanted: str | None, path: str) -> str:
    """Return the topic of the commanded positions.

    :param types: message types by topic
    :param wanted: the one asked for, or None
    :raises RecordingError: it is not there, or there is none or more than one
    """
    usable = [topic for topic, kind in types.items() if kind == TRAJECTORY_STATE]
    usable = usable or [
        topic
        for topic, kind in types.items()
        if kind == JOINT_STATE and topic.endswith('/reference')
    ]
    if wanted is not None:
        wanted = '/' + wanted.lstrip('/')
        if types.get(wanted) not in (TRAJECTORY_STATE, JOINT_STATE):
            raise RecordingError(f'{path}: {wanted} holds no commanded positions, {usable} do')
        return wanted
    if len(usable) != 1:
        what = f'{usable} hold commanded positions, choose one with --command' if usable else (
            f'no topic holds commanded positions; record them beside the joint states: {READ}'
        )  # fmt: skip
        raise RecordingError(f'{path}: {what}')
    return usable[0]


def _positions(message: Any) -> Values:
    """Commanded positions of a JointState, or of a joint_trajectory_controller (JTC).

    A JTC (ros2_controllers 4.42) commands in each cycle the position of the next one, `output`.
    Effort it commands is that of `reference`: where it has an effort interface, torque comes
    through it, and its delay counts from there.
    """
    if hasattr(message, 'position'):
        return message.name, (message.position,)
    output = message.output
    through_jtc = len(output.effort) or not len(output.positions)
    return message.joint_names, ((message.reference if through_jtc else output).positions,)


def _recorded_delay(path: str, types: dict[str, str], joints: tuple[str, ...]) -> int | None:
    """Return the delay between requested and commanded torque in the bag, in cycles, or None."""
    for topic in [topic for topic, kind in types.items() if kind == TORQUE_STATE]:
        try:
            state = read_topic(
                path, topic, joints, lambda m: (m.name, (m.requested, m.additive_command))
            )
        except RecordingError:  # that of another robot, or no message in time
            continue
        if len(state.signals) < 2:
            continue
        found = configured_delay(*state.signals)
        if found is not None:
            return found
    return None


def summary(
    estimate: DelayEstimate,
    findings: list[Finding],
    topic: str,
    period: float,
    configured: int | None,
) -> dict[str, Any]:
    """Collect what was found; plain types, SI units, None for what is not known."""

    def number(value: float) -> float | None:
        return float(value) if np.isfinite(value) else None

    return {
        'command': topic,
        'period': period,
        'configured': configured,
        'additive_torque_delay': estimate.setting,
        'cycles': number(estimate.cycles),
        'joints': [
            {'name': lag.joint, 'lag': number(lag.cycles), 'error': number(lag.error)}
            for lag in estimate.lags
        ],
        'findings': [asdict(finding) for finding in findings],
    }


def table(facts: dict[str, Any], findings: list[Finding]) -> str:
    """Lay the facts out for reading."""
    lines = [f'command      {facts["command"]}, cycles of {1e3 * facts["period"]:.3f} ms', '']
    lines.append(f'{"joint":<20}{"cycles behind command":>24}')
    for joint in facts['joints']:
        known = joint['lag'] is not None and joint['error'] is not None
        cell = f'{joint["lag"]:.2f} +- {joint["error"]:.2f}' if known else 'cannot be told'
        lines.append(f'{joint["name"]:<20}{cell:>24}')
    lines.append('')
    return '\n'.join([*lines, *(finding.line for finding in findings)])
