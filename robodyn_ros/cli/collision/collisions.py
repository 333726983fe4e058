# SPDX-License-Identifier: Apache-2.0
"""`robodyn collisions`: collisions that the monitor finds in a recording."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from robodyn_ros.analysis.thresholds.events import Watch, rows_of, run_detector
from robodyn_ros.cli.collision.event import Rows, event_list, monitor_of_event
from robodyn_ros.cli.collision.model import add_model, choose_joints, load, rests_in
from robodyn_ros.cli.effort import RECORDING, read_in_si_units
from robodyn_ros.cli.output import add_json, out_file, progress_bar, show
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.event_bag import events_in, is_event
from robodyn_ros.control.collision.ramp_thresholds import RampThresholds
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.setup import build_detector
from robodyn_ros.control.collision.thresholds_file import read_thresholds
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.files.result_file import write_text
from robodyn_ros.recording.recording import Recording


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Run the collision monitor over a recording and list what it finds: time, '
        'joint, level. The time is the stamp of the first sample of that level. Exit code 0 with '
        'and without collisions. Of the black box: list the events of a folder, or run the '
        'monitor over one event with its settings. Collision detection is NOT a safety function.'
    )
    parser.add_argument(
        'recording', help=f'{RECORDING}, with --model and --thresholds; or, without them, '
        'black_box_directory or an event in it',
    )  # fmt: skip
    add_model(parser, required=False)
    parser.add_argument(
        '--allow-joints',
        type=lambda text: text.split(','),
        default=[],
        metavar='NAME,NAME,...',
        help='joints that are monitored although the result calls them not usable, as the '
        'parameter allowed_joints of the node',
    )
    parser.add_argument('--thresholds', metavar='FILE', help='file of `robodyn thresholds`')
    parser.add_argument(
        '--sensitivity',
        type=float,
        default=1.0,
        help='divides the thresholds, 0.5 to 2 (default: %(default)s)',
    )
    parser.add_argument(
        '--level',
        choices=('contact', 'collision'),
        default='collision',
        help='lowest level to list (default: %(default)s)',
    )
    parser.add_argument('--out', type=out_file, metavar='CSV', help='write the list to this file')
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Detect, or list events; print, and write the file of --out."""
    file = arguments.out
    with progress_bar():
        if events := events_in(Path(arguments.recording)):
            facts, rows, text = event_list(events)
        else:
            facts, rows, text = _detect(arguments)
    if file is not None:
        table = io.StringIO()
        csv.writer(table, lineterminator='\n').writerows(rows)
        write_text(table.getvalue(), file)
    show(arguments, facts, text)
    return 0


def _detect(arguments: argparse.Namespace) -> tuple[dict[str, Any], Rows, str]:
    """Return facts, rows with a header, and text about a recording."""
    event = is_event(Path(arguments.recording))
    detector, recording = (monitor_of_event if event else _monitor)(arguments)
    rests = rests_in(arguments, arguments.recording, recording, detector.joints)
    if (
        rests is None
        and isinstance(detector.thresholds, RampThresholds)
        and (detector.thresholds.law.rest_learned)
    ):
        note = 'no commanded positions: weak pushes at rest are not found'
        print(f'note: {recording.source} has {note}', file=sys.stderr)
    watch = run_detector(detector, recording, rests=rests)
    least = Level[arguments.level.upper()]
    watch.events = [event for event in watch.events if event.level >= least]
    rows = list(rows_of(watch, recording.origin * 1e-9))
    return _facts(recording, watch, rows), rows, _table(recording, watch, rows)


def _monitor(arguments: argparse.Namespace) -> tuple[TorqueErrorDetector, Recording]:
    """Return the detector of the options, and the recording."""
    if not arguments.model or not arguments.thresholds:
        missing = [f'--{name}' for name in ('model', 'thresholds') if not getattr(arguments, name)]
        raise ControlError(
            f'{" and ".join(missing)} {"is" if len(missing) == 1 else "are"} missing: a recording '
            f'needs --model RESULT and --thresholds FILE, which `robodyn thresholds` writes; '
            f'{arguments.recording} has no events of the black box'
        )
    identified, torque = load(arguments)
    learned = read_thresholds(arguments.thresholds)
    learned.check_model(identified.loaded_hash, torque.joints, arguments.thresholds)
    recording = read_in_si_units(
        arguments, arguments.recording, identified.joints, identified.model
    )
    enabled = choose_joints(arguments, identified)
    plain = CollisionSettings(torque.joints, 1.0, torque_error_enable=enabled)
    settings = _settings(learned.settings(plain), recording)
    detector = build_detector(identified, torque, settings, learned)
    detector.sensitivity = arguments.sensitivity
    return detector, recording


def _settings(settings: CollisionSettings, recording: Recording) -> CollisionSettings:
    if not 0.9 < recording.period / settings.period < 1.1:
        raise ControlError(
            f'{recording.source} has {1.0 / recording.period:.4g} samples per second, the '
            f'thresholds were learned with {1.0 / settings.period:.4g}'
        )
    timeout = max(settings.stale_timeout, 3.0 * settings.period)
    return replace(settings, stale_timeout=timeout)


def _facts(recording: Recording, watch: Watch, rows: Rows) -> dict[str, Any]:
    return {
        'recording': recording.source,
        'samples': watch.samples,
        'unmonitored': watch.unknown,
        'events': [dict(zip(rows[0], row, strict=True)) for row in rows[1:]],
    }


def _table(recording: Recording, watch: Watch, rows: Rows) -> str:
    width = max(len(name) for name in (*recording.joints, 'joint', 'threshold'))
    lines = ['  '.join(f'{cell:>{max(width, 14)}}' for cell in row) for row in rows]
    count = f'{len(watch.events)} event{"" if len(watch.events) == 1 else "s"}'
    lines.append(
        f'{count} in {recording.duration / 60.0:.3g} min; share of samples without monitoring '
        f'{100.0 * watch.unknown / max(watch.samples, 1):.2f} %'
    )
    return '\n'.join(lines)
