# SPDX-License-Identifier: Apache-2.0
"""`robodyn thresholds`: collision thresholds learned from healthy recordings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from robodyn_ros.analysis.thresholds.learn import Learned, Learning, learn
from robodyn_ros.cli.collision.healthy import healthy_sessions
from robodyn_ros.cli.collision.model import add_model, load
from robodyn_ros.cli.effort import RECORDING
from robodyn_ros.cli.output import add_json, out_file, progress_bar, show
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.thresholds_file import (
    DETECTOR,
    LearnedThresholds,
    write_thresholds,
)
from robodyn_ros.control.torque.low_pass import HIGHEST_SHARE
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.files.next_steps import monitoring

COLUMNS = ('lowest', 'highest', 'passing', 'at rest', 'change', 'fastest')
"""Columns of the table: thresholds while moving, passing standstill, at rest, and of the change at
rest; speed."""
NO_CHANGE = (
    'change       not learned: {}; pushes at rest that are below the friction are not found'
)
NO_COMMANDS = (
    'the recordings have no commanded positions (the recorder takes them from '
    'CONTROLLER/controller_state, see docs/collision.md)'
)
NO_REST = 'the commanded positions hardly rest'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Learn collision thresholds by speed, acceleration and time since reversal '
        'from recordings of the normal work without contact, and write them to a file for '
        '`robodyn collisions` and the collision monitor. Record at least two sessions: each is '
        'checked with the thresholds of all others. Collision detection is NOT a safety function.'
    )
    parser.add_argument(
        'recording',
        nargs='+',
        help=f'healthy {RECORDING}',
    )
    add_model(parser)
    parser.add_argument(
        '--out',
        type=out_file,
        default='thresholds.yaml',
        metavar='FILE',
        help='thresholds file to write (default: %(default)s)',
    )
    _add_detector(parser)
    add_json(parser)


def _add_detector(parser: Any) -> None:
    group = parser.add_argument_group('detector')
    usual = CollisionSettings
    group.add_argument(
        '--filter-cutoff',
        type=float,
        help=f'of the filtered torque error [Hz] (default: {usual.filter_cutoff:g}, at most '
        f'{HIGHEST_SHARE:g} times the sampling rate)',
    )
    group.add_argument(
        '--debounce',
        type=int,
        default=usual.debounce,
        help='consecutive samples above a threshold (default: %(default)s)',
    )
    group.add_argument(
        '--false-alarms',
        type=float,
        metavar='PER_HOUR',
        help='false alarms per hour to aim at (default: none in the recordings, at most 1)',
    )


def run(arguments: argparse.Namespace) -> int:
    """Learn, print, and write the file."""
    identified, torque = load(arguments)
    with progress_bar():
        settings, sessions, friction = healthy_sessions(arguments, identified, torque)
        options = Learning(rate=arguments.false_alarms, debounce=settings.debounce)
        learned = learn(sessions, friction, options)
    file = LearnedThresholds(
        joints=torque.joints,
        model_hash=identified.loaded_hash,
        detector={name: getattr(settings, name) for name in DETECTOR},
        map=learned.map,
        hours=learned.hours,
        rate=learned.rate,
    )
    write_thresholds(file, arguments.out)
    for note in learned.notes:
        print(f'note: {note}', file=sys.stderr)
    commanded = any(each.change is not None for each in sessions)
    following = monitoring(Path(arguments.model), '', arguments.out)
    facts = _facts(arguments, learned, torque) | {'commanded': commanded, 'next': following}
    show(arguments, facts, _table(facts))
    return 0


def _facts(arguments: argparse.Namespace, learned: Learned, torque: ModelTorque) -> dict[str, Any]:
    cells, change = learned.map.collision, learned.map.change
    return {
        'file': arguments.out,
        'hours': learned.hours,
        'alarms': learned.alarms,
        'false_alarms_per_hour_at_most': learned.rate,
        'bands': dict(zip(('speed', 'acceleration', 'reversal'), learned.layout, strict=True)),
        'unvisited': learned.unvisited,
        'joints': [
            {
                'name': name,
                'lowest': cells[j, :-2].min(),
                'highest': cells[j, :-2].max(),
                'passing': cells[j, -2],
                'at rest': cells[j, -1],
                'change': None if change is None else change[j],
                'fastest': learned.map.fastest[j],
            }
            for j, name in enumerate(torque.joints)
        ],
        'notes': list(learned.notes),
    }


def _table(facts: dict[str, Any]) -> str:
    bands = facts['bands']
    lines = [
        f'thresholds   {facts["file"]}',
        f'healthy      {60.0 * facts["hours"]:.3g} min with {facts["alarms"]} false alarms of the '
        f'sessions left out: at most {facts["false_alarms_per_hour_at_most"]:.3g} per hour with '
        f'95 % confidence',
        f'bands        {bands["speed"]} of speed, {bands["acceleration"]} of acceleration, '
        f'{bands["reversal"]} of time since reversal; {100.0 * facts["unvisited"]:.0f} % of the '
        f'cells were hardly visited and have the largest value of their joint',
        '',
        f'{"joint":<20}' + ''.join(f'{key:>12}' for key in COLUMNS),
    ]
    for joint in facts['joints']:
        numbers = [joint[key] for key in COLUMNS]
        cells = ['-' if each is None else f'{each:.4g}' for each in numbers]
        lines.append(f'{joint["name"]:<20}' + ''.join(f'{cell:>12}' for cell in cells))
    lines.append('thresholds in Nm or N; faster motion than the fastest [rad/s or m/s] was not '
                 'learned: thresholds grow in proportion')  # fmt: skip
    if facts['joints'][0]['change'] is None:
        lines.append(NO_CHANGE.format(NO_REST if facts['commanded'] else NO_COMMANDS))
    return '\n'.join([*lines, 'This is NOT a safety function.', f'next: {facts["next"]}'])
