# SPDX-License-Identifier: Apache-2.0
"""Events of the black box in `robodyn collisions`: the list, and the monitor that wrote one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.cli.effort import read_in_si_units
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.event_bag import EventSettings, read_settings
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.setup import (
    build_detector,
    collision_settings,
    load_thresholds,
)
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError, RecordingError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.recording.recording import Recording

Rows = list[tuple[str, ...]]
COLUMNS = ('event', 'time', 'model', 'reason')


def event_list(events: Sequence[Path]) -> tuple[dict[str, Any], Rows, str]:
    """Return facts, rows with a header, and text about the events of a folder."""
    rows: Rows = [COLUMNS]
    for event in events:
        try:
            settings = read_settings(event)
            given = (_time(settings), settings.model_hash[:12], settings.reason)
        except RecordingError as error:
            given = ('', '', str(error))
        rows.append((event.name, *given))
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [
        '  '.join([*(f'{row[k]:<{widths[k]}}' for k in range(3)), row[3]]).rstrip() for row in rows
    ]
    facts = {'events': [dict(zip(COLUMNS, row, strict=True)) for row in rows[1:]]}
    return facts, rows, '\n'.join([*lines, f'next: robodyn collisions {events[-1]}'])


def monitor_of_event(arguments: argparse.Namespace) -> tuple[TorqueErrorDetector, Recording]:
    """Return the detector with the settings of the monitor that wrote an event, and its samples.

    :raises RobodynError: the event, its model or its thresholds cannot be used
    """
    event = Path(arguments.recording)
    settings = read_settings(event)
    model = _model(arguments, settings, event)
    joints = model.model.joint_names
    recording = read_in_si_units(arguments, str(event), joints, model.model)
    if settings.parameters.get('motion_source') == 'reference':
        print('note: the monitor used the motion of its reference, the replay uses the '
              'measured one', file=sys.stderr)  # fmt: skip
    return _detector(arguments, event, settings, model), recording


def _detector(
    arguments: argparse.Namespace, event: Path, settings: EventSettings, model: IdentifiedModel
) -> TorqueErrorDetector:
    given = settings.parameters
    try:
        window, sensitivity = given['velocity_window'], float(given['sensitivity'])
        names = [field.name for field in fields(CollisionSettings)]
        options = {name: given[name] for name in names if name != 'joints'}
        values = np.array(settings.values, dtype=float)
        if len(values) != len(model.values):
            raise ValueError(f'{len(values)} values for {len(model.values)} parameters')
        torque = ModelTorque(
            model.model, values,
            velocity_window=window[0] if len(window) == 1 else np.array(window, dtype=float),
        )  # fmt: skip
        learned = load_thresholds(arguments.thresholds or str(given['thresholds']), model)
        detection = collision_settings(model.joints, options, learned)
    except (KeyError, TypeError, ValueError) as error:
        raise ControlError(
            f'{event}: the settings cannot be used ({type(error).__name__}: {error})'
        ) from error
    detector = build_detector(model, torque, detection, learned)
    detector.sensitivity = sensitivity
    return detector


def _model(arguments: argparse.Namespace, settings: EventSettings, event: Path) -> IdentifiedModel:
    """Return the model of the event, of --model or of the file that the monitor had."""
    file = arguments.model or settings.result_file
    if not file:
        raise ControlError(
            f'{event}: the monitor had its model as parameters, give --model RESULT'
        )
    model = load_identified_model(file)
    if model.hash != settings.model_hash:
        raise ControlError(
            f'{file} has another model (hash {model.hash[:12]}) than the event {event} (hash '
            f'{settings.model_hash[:12]}): give --model RESULT'
        )
    return model


def _time(settings: EventSettings) -> str:
    return datetime.fromtimestamp(1e-9 * settings.time).isoformat(' ', 'milliseconds')
