# SPDX-License-Identifier: Apache-2.0
"""`robodyn replay`: run of the collision detector over an event of the black box."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from robodyn_ros.cli.output import EXIT_NEGATIVE, add_json, show
from robodyn_ros.control.collision.black_box.event import Event
from robodyn_ros.control.collision.black_box.event_file import read_event
from robodyn_ros.control.collision.black_box.replay import Difference, replay
from robodyn_ros.control.collision.detector import Level


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Run the collision detector over the samples of an event, and compare its '
        'levels, torque errors and thresholds with the recorded ones, bit by bit. The exit code '
        'is 1 at the first difference.'
    )
    parser.add_argument('event', help='folder of an event')
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay and print; 1 if a result differs.

    :raises RobodynError: the event cannot be read, or is one of another version
    """
    event = read_event(arguments.event)
    found = replay(event)
    facts = event_facts(event, found)
    show(arguments, facts, table(facts))
    return 0 if found is None else EXIT_NEGATIVE


def event_facts(event: Event, found: Difference | None) -> dict[str, Any]:
    """Return what the event shows: cause, course and largest torque error of each joint."""
    rows, joints = event.rows, event.setup.settings.joints
    time = 1e-9 * (rows.times - rows.times[0])
    error = np.abs(rows.results[:, 0])
    peak = error.argmax(axis=0)
    return {
        'reason': event.reason,
        'model_hash': event.setup.model.hash,
        'calls': len(time),
        'duration': float(time[-1]),
        'joints': [
            {
                'name': name,
                'torque_error': float(error[row, joint]),
                'threshold': float(rows.results[row, 1, joint]),
                'time': float(time[row]),
                'worst': Level(int(rows.level[:, joint].max())).name,
            }
            for joint, (name, row) in enumerate(zip(joints, peak, strict=True))
        ],
        'messages': [{'time': float(time[row]), 'text': text} for row, text in rows.messages],
        'equal': found is None,
        'difference': None if found is None else vars(found),
    }


def table(facts: dict[str, Any]) -> str:
    """Return the facts as text."""
    lines = [
        f'{facts["reason"]}; model {facts["model_hash"][:12]}, {facts["calls"]} calls in '
        f'{facts["duration"]:.3f} s', '',
        f'{"joint":<20}{"largest torque error":>22}{"threshold":>12}{"at [s]":>10}  worst level',
    ]  # fmt: skip
    for joint in facts['joints']:
        lines.append(
            f'{joint["name"]:<20}{joint["torque_error"]:>22.4g}{joint["threshold"]:>12.4g}'
            f'{joint["time"]:>10.3f}  {joint["worst"]}'
        )
    shown = facts['messages'][:20]
    lines += ['', *(f'{row["time"]:>10.3f} s  {row["text"]}' for row in shown)]
    if len(facts['messages']) > len(shown):
        lines.append(f'... and {len(facts["messages"]) - len(shown)} more (--json)')
    return '\n'.join([*lines, '', _verdict(facts)])


def _verdict(facts: dict[str, Any]) -> str:
    odd = facts['difference']
    if odd is None:
        return 'replay: all levels, torque errors and thresholds are equal in every bit'
    return (
        f'replay: {odd["quantity"]} of {odd["joint"]} differs first in call {odd["row"]} after '
        f'{odd["time"]:.3f} s: recorded {odd["recorded"]!r}, now {odd["computed"]!r}'
    )
