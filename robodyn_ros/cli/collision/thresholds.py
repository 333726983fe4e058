# SPDX-License-Identifier: Apache-2.0
"""`robodyn thresholds`: collision thresholds learned from healthy recordings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robodyn_ros.analysis.thresholds.learn import USUAL, Learned, Learning, learn
from robodyn_ros.analysis.thresholds.price import Price, prices, smallest_ramps
from robodyn_ros.cli.collision.healthy import healthy_sessions
from robodyn_ros.cli.collision.model import add_model, load
from robodyn_ros.cli.effort import RECORDING
from robodyn_ros.cli.output import add_json, out_file, progress_bar, show
from robodyn_ros.control.collision.ramp_law import LEVEL
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.thresholds_file import (
    DETECTOR,
    LearnedThresholds,
    write_thresholds,
)
from robodyn_ros.control.torque.low_pass import HIGHEST_SHARE
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.files.next_steps import monitoring

COLUMNS = {
    'lowest': 'a slow contact is found above it [Nm or N], in the motion that is known best',
    'highest': 'the same in the motion with the largest errors of the model, usually a reversal',
    'standstill': 'the same while this joint stands still; at least its static friction',
    'at rest': 'the same for changes while the robot is not commanded to move',
    'ramp': 'a torque that rises to this in 30 to 200 ms is found [Nm or N], in usual motion',
    'fastest': 'learned up to this speed [rad/s or m/s]; thresholds grow in proportion beyond it',
}
"""Columns of the table, and what they mean."""
NO_REST = (
    'at rest      not learned: the recordings have no commanded positions that rest (the recorder '
    'takes them from CONTROLLER/controller_state, see docs/collision.md); weak pushes at rest are '
    'not found'
)
RATES = (100.0, 30.0, 10.0, 3.0, 1.0)
"""False alarms per hour of the table of prices, in addition to the wanted one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Learn collision detection for a rate of false alarms from recordings of the normal '
        'work without contact, and write it to a file for `robodyn collisions` and the collision '
        'monitor. Record sessions of all work that the robot does: parts of them are compared '
        'with what was learned from the remainder. Collision detection is NOT a safety '
        'function.'
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
        '--false-alarms',
        type=float,
        metavar='PER_HOUR',
        help='wanted false alarms per hour of motion; refused if the recordings are too short to '
        f'show one (default: {USUAL:g}, or the smallest that they can show)',
    )


def run(arguments: argparse.Namespace) -> int:
    """Learn, print, and write the file."""
    identified, torque = load(arguments)
    with progress_bar():
        settings, sessions, friction = healthy_sessions(arguments, identified, torque)
        learned = learn(sessions, settings.period, friction, Learning(arguments.false_alarms))
        table = prices(learned, identified.model, sessions, RATES)
    file = LearnedThresholds(
        joints=torque.joints,
        model_hash=identified.loaded_hash,
        detector={name: getattr(settings, name) for name in DETECTOR},
        law=learned.law,
        contact=learned.contact,
        hours=sum(learned.hours),
        wanted=learned.wanted,
        rate=learned.rate,
    )
    write_thresholds(file, arguments.out)
    for note in learned.notes:
        print(f'note: {note}', file=sys.stderr)
    following = monitoring(Path(arguments.model), '', arguments.out)
    facts = _facts(arguments, learned, torque, table) | {'next': following}
    show(arguments, facts, _table(facts))
    return 0


def _facts(
    arguments: argparse.Namespace, learned: Learned, torque: ModelTorque, table: Sequence[Price]
) -> dict[str, Any]:
    law = learned.law
    moving = law.bands.moving
    levels = law.single * law.scale[:, :, LEVEL]
    ramps = smallest_ramps(law)
    return {
        'file': arguments.out,
        'hours': sum(learned.hours),
        'sessions': len(arguments.recording),
        'expected': list(learned.interval),
        'alarms': learned.alarms,
        'false_alarms_per_hour': learned.wanted,
        'false_alarms_per_hour_at_most': learned.rate,
        'contact_share': learned.contact,
        'rest_learned': law.rest_learned,
        'prices': [asdict(each) for each in table],
        'joints': [
            {
                'name': name,
                'lowest': levels[j, :moving].min(),
                'highest': levels[j, :moving].max(),
                'standstill': levels[j, moving],
                'at rest': levels[j, -1] if law.rest_learned else None,
                'ramp': ramps[j],
                'fastest': law.fastest[j],
            }
            for j, name in enumerate(torque.joints)
        ],
        'notes': list(learned.notes),
    }


def _table(facts: dict[str, Any]) -> str:
    lines = [
        f'thresholds   {facts["file"]}',
        f'healthy      {60.0 * facts["hours"]:.3g} min of motion in {facts["sessions"]} sessions',
        f'false alarms {facts["false_alarms_per_hour"]:.3g} per hour expected if work stays as '
        f'recorded; {facts["expected"][0]:.2g} to {facts["expected"][1]:.2g} in 95 % of '
        'recordings as long as these',
        '',
        *(f'{"price        " if not k else " " * 13}{Price(**each).describe()}'
          for k, each in enumerate(facts['prices'])),
        '',
        f'{"joint":<20}' + ''.join(f'{key:>12}' for key in COLUMNS),
    ]  # fmt: skip
    for joint in facts['joints']:
        numbers = [joint[key] for key in COLUMNS]
        cells = ['-' if each is None else f'{each:.4g}' for each in numbers]
        lines.append(f'{joint["name"]:<20}' + ''.join(f'{cell:>12}' for cell in cells))
    lines += [f'{f"{key}:":<12} {meaning}' for key, meaning in COLUMNS.items()]
    lines.append(f'CONTACT is reported at {100.0 * facts["contact_share"]:.0f} % of these values')
    if not facts['rest_learned']:
        lines.append(NO_REST)
    return '\n'.join([*lines, 'This is NOT a safety function.', f'next: {facts["next"]}'])
