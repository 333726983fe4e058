# SPDX-License-Identifier: Apache-2.0
"""`robodyn thresholds`: collision thresholds learned from healthy recordings."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from robodyn_ros.analysis.collision_thresholds import friction_at_rest
from robodyn_ros.analysis.thresholds.drives_off import drives_off
from robodyn_ros.analysis.thresholds.learn import Learned, Learning, learn
from robodyn_ros.analysis.thresholds.session import Session, session_of
from robodyn_ros.cli.collision.model import add_model, load, read
from robodyn_ros.cli.output import add_json, out_file, show
from robodyn_ros.control.collision.settings import RESIDUALS, CollisionSettings
from robodyn_ros.control.collision.thresholds_file import (
    DETECTOR,
    LearnedThresholds,
    write_thresholds,
)
from robodyn_ros.control.torque.low_pass import HIGHEST_SHARE
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

COLUMNS = ('lowest', 'highest', 'passing', 'at rest', 'fastest')
"""Columns of the table: thresholds while moving, passing standstill and at rest; speed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Learn collision thresholds by speed, acceleration and time since reversal '
        'from recordings of the normal work without contact, and write them to a file for '
        '`robodyn collisions` and the collision monitor. Record at least two sessions: each is '
        'checked with the thresholds of all others. Collision detection is NOT a safety function.'
    )
    parser.add_argument(
        'recording', nargs='+', help='healthy rosbag2 folder, .mcap, .db3, .csv, .npz or .mat'
    )
    add_model(parser)
    parser.add_argument(
        '--out',
        type=out_file,
        default='thresholds.yaml',
        metavar='FILE',
        help='(default: %(default)s)',
    )
    _add_detector(parser)
    add_json(parser)


def _add_detector(parser: Any) -> None:
    group = parser.add_argument_group('detector')
    usual = CollisionSettings
    group.add_argument(
        '--residual',
        choices=RESIDUALS,
        default=usual.residual,
        help='torque error of low-pass filtered signals, or momentum observer '
        '(default: %(default)s)',
    )
    group.add_argument(
        '--filter-cutoff',
        type=float,
        help=f'of the filtered torque error [Hz] (default: {usual.filter_cutoff:g}, at most '
        f'{HIGHEST_SHARE:g} times the sampling rate)',
    )
    group.add_argument(
        '--observer-bandwidth',
        type=float,
        default=usual.observer_bandwidth,
        help='of the momentum observer [Hz] (default: %(default)s)',
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
    """Learn, print, and write the file.

    :raises RobodynError: a file cannot be read or written, or nothing can be learned
    """
    identified, torque = load(arguments)
    recordings = [read(arguments, path, identified) for path in arguments.recording]
    settings = _settings(arguments, recordings)
    sessions = [_healthy(recording, torque, settings) for recording in recordings]
    friction = np.max([friction_at_rest(each, torque) for each in recordings], axis=0)
    options = Learning(rate=arguments.false_alarms, debounce=arguments.debounce)
    learned = learn(sessions, friction, options)
    file = LearnedThresholds(
        joints=torque.joints,
        model_hash=identified.hash,
        detector={name: getattr(settings, name) for name in DETECTOR},
        map=learned.map,
        hours=learned.hours,
        rate=learned.rate,
    )
    write_thresholds(file, arguments.out)
    for note in learned.notes:
        print(f'note: {note}', file=sys.stderr)
    facts = _facts(arguments, learned, torque)
    show(arguments, facts, _table(facts))
    return 0


def _settings(arguments: argparse.Namespace, recordings: list[Recording]) -> CollisionSettings:
    """Return the settings of the detector for the period of the recordings.

    :raises ControlError: the recordings have different rates
    """
    periods = [recording.period for recording in recordings]
    if max(periods) > 1.1 * min(periods):
        raise ControlError(
            f'the recordings have {1.0 / max(periods):.4g} to {1.0 / min(periods):.4g} samples '
            f'per second: thresholds belong to one rate'
        )
    # Stamps jitter, rates are round: 0.009998 s is 0.01 s.
    period = float(f'{np.median(periods):.3g}')
    cutoff = arguments.filter_cutoff
    return CollisionSettings(
        recordings[0].joints,
        1.0,
        residual=arguments.residual,
        period=period,
        filter_cutoff=cutoff or min(CollisionSettings.filter_cutoff, HIGHEST_SHARE / period),
        observer_bandwidth=arguments.observer_bandwidth,
        debounce=arguments.debounce,
        stale_timeout=max(CollisionSettings.stale_timeout, 3.0 * period),
    )


def _healthy(recording: Recording, torque: ModelTorque, settings: CollisionSettings) -> Session:
    """Return the session of a recording without samples of drives that are off.

    :raises ControlError: no sample is left
    """
    session = session_of(recording, torque, settings)
    still = np.zeros_like(recording.position)
    off = drives_off(recording, torque.body(recording.position, still, still))
    if off.any():
        session = session.without(
            off,
            f'{recording.source}: {off.sum()} of {len(off)} samples left out: the torque of a '
            f'joint does not change although it moves or carries weight; are the drives off?',
        )
    if not session.used.any():
        raise ControlError(f'{recording.source} has no healthy sample: {"; ".join(session.notes)}')
    return session


def _facts(arguments: argparse.Namespace, learned: Learned, torque: ModelTorque) -> dict[str, Any]:
    cells: Array = learned.map.collision
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
        numbers = (joint[key] for key in COLUMNS)
        lines.append(f'{joint["name"]:<20}' + ''.join(f'{value:12.4g}' for value in numbers))
    lines.append('thresholds in Nm or N; faster motion than the fastest [rad/s or m/s] was not '
                 'learned: thresholds grow in proportion')  # fmt: skip
    return '\n'.join([*lines, 'This is NOT a safety function.'])
