# SPDX-License-Identifier: Apache-2.0
"""`robodyn delay`: measurement of the additive torque delay from a recording."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import Any

import numpy as np

from robodyn_ros.analysis.delay import Samples, delay_estimate, delay_findings, position_lags
from robodyn_ros.cli.effort import add_choice
from robodyn_ros.cli.output import EXIT_NEGATIVE, add_json, out_folder, progress_bar, show
from robodyn_ros.cli.page import with_page
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.commands import command_topic, read_commands
from robodyn_ros.recording.bags.topic_bag import TORQUE_STATE, Values, read_topic, topic_types
from robodyn_ros.recording.readers import read_recording, recording_format


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Measure the delay from commanded to measured positions in a rosbag2, in '
        'cycles: the value for additive_torque_delay of the feed-forward. If the bag has '
        'torque_state of a running feed-forward, its delay is checked. The exit code is 1 if that '
        'delay is wrong, or the delay is unknown.'
    )
    parser.add_argument('recording', help='folder of a rosbag2')
    add_choice(parser)
    parser.add_argument(
        '--command',
        dest='command_topic',
        metavar='TOPIC',
        help='topic of commanded positions: controller_state of a joint_trajectory_controller, '
        'or a JointState (default: the only one in the bag)',
    )
    parser.add_argument('--period', type=_period, help='servo period in s (default: as recorded)')
    parser.add_argument(
        '--configured', type=int, help='present additive_torque_delay (default: as recorded)'
    )
    parser.add_argument('--out', type=out_folder, metavar='DIR', help='folder for delay.html')
    add_json(parser)


def _period(text: str) -> float:
    period = float(text)
    if not 0.0 < period < np.inf:
        raise argparse.ArgumentTypeError(f'the period must be positive, in s, got {text}')
    return period


def run(arguments: argparse.Namespace) -> int:
    """Measure, check and print; 1 if the configured delay is wrong, or the delay is unknown."""
    with progress_bar():
        facts = _measure(arguments)
    wrong = any(each.code in ('delay_wrong', 'delay_unknown') for each in facts['findings'])
    text = table(facts)
    if arguments.out is not None:
        title = 'Delay of the additive torque'
        facts = with_page(arguments, facts, text, name='delay', title=title, good=not wrong)
        text = table(facts)
    show(arguments, facts, text)
    return EXIT_NEGATIVE if wrong else 0


def _measure(arguments: argparse.Namespace) -> dict[str, Any]:
    path = arguments.recording
    if not recording_format(path).startswith('rosbag'):
        raise RecordingError(
            f'{path} is not a rosbag2: the delay needs a bag with commanded positions'
        )
    types = topic_types(path)
    topic = command_topic(types, arguments.command_topic, path)
    measured = read_recording(
        path, topic=arguments.topic, part=arguments.part, rename=arguments.rename
    )
    command = read_commands(path, topic, measured.joints, measured.part)
    measured = measured.select(command.joints)
    start = (command.stamps - measured.origin) / 1e9
    recorded, servo = _read_delay(path, types, measured.joints)
    slowest = float(min(measured.period, np.median(np.diff(start))))
    period = arguments.period or servo or slowest
    lags = position_lags(
        Samples(start, command.signals[0]),
        Samples(measured.time, measured.position),
        measured.joints,
        period=period,
    )
    estimate = delay_estimate(lags)
    configured = recorded if arguments.configured is None else arguments.configured
    return {
        'command': topic,
        'period': period,
        'configured': configured,
        'additive_torque_delay': estimate.setting,
        'cycles': estimate.cycles,
        'joints': [{'name': e.joint, 'lag': e.cycles, 'error': e.error} for e in estimate.lags],
        'findings': delay_findings(estimate, configured),
    }


def _read_delay(
    path: str, types: dict[str, str], joints: tuple[str, ...]
) -> tuple[int | None, float | None]:
    """Return the delay that the feed-forward had last, in cycles, and the time of a cycle, in [s].

    None where it is unknown; only the controller plugin numbers its cycles.
    """
    for topic in [topic for topic, kind in types.items() if kind == TORQUE_STATE]:
        with suppress(RecordingError):  # of another robot or an earlier version, or no message
            samples = read_topic(path, topic, joints, _delays)
            delay, cycle = (signal[:, 0] for signal in samples.signals)
            steps, passed = np.diff(cycle), np.diff(samples.stamps) / 1e9
            forward = steps > 0
            period = float(np.median(passed[forward] / steps[forward])) if forward.any() else None
            return int(delay[-1]), period
    return None, None


def _delays(message: Any) -> Values:
    """Return delay and cycle of a TorqueState, which are the same for all joints."""
    count = len(message.name)
    return message.name, ([message.additive_torque_delay] * count, [message.cycle] * count)


def table(facts: dict[str, Any]) -> str:
    """Return the facts as text."""
    lines = [f'command      {facts["command"]}, cycles of {1e3 * facts["period"]:.3f} ms', '']
    lines.append(f'{"joint":<20}{"cycles behind command":>24}')
    for joint in facts['joints']:
        known = np.isfinite(joint['lag'])
        cell = f'{joint["lag"]:.2f} +- {joint["error"]:.2f}' if known else 'unknown'
        lines.append(f'{joint["name"]:<20}{cell:>24}')
    lines.append('')
    return '\n'.join([*lines, *(finding.line for finding in facts['findings'])])
