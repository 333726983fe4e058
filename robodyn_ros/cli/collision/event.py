# SPDX-License-Identifier: Apache-2.0
"""Events of the black box in `robodyn collisions`: the list, and the replay of one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.analysis.thresholds.events import run_detector
from robodyn_ros.cli.collision.model import rests_in
from robodyn_ros.cli.effort import read_in_si_units
from robodyn_ros.cli.page import with_page
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.event_bag import EventSettings, read_settings
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.setup import (
    build_detector,
    collision_settings,
    load_thresholds,
)
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ConfigError, ControlError, RecordingError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.report.curves import event_curves

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


class Replay:
    """Run of the detector over an event, with the settings of its monitor.

    :ivar watch: what the detector finds
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        """Read the event and run the detector.

        :raises RobodynError: the event, its model or its thresholds cannot be used
        """
        event = Path(arguments.recording)
        self.settings = read_settings(event)
        self._identified = _model(arguments, self.settings, event)
        joints = self._identified.model.joint_names
        self.recording = read_in_si_units(arguments, str(event), joints, self._identified.model)
        detector = self._detector(arguments, event)
        shape = (2, len(self.recording.time), len(joints))
        self._results: Array = np.full(shape, np.nan)

        def keep(row: int) -> None:
            if detector.settled:
                self._results[:, row] = detector.torque_error, detector.threshold

        rests = rests_in(arguments, str(event), self.recording, joints)
        self.watch = run_detector(detector, self.recording, rests=rests, each=keep)

    def _detector(self, arguments: argparse.Namespace, event: Path) -> TorqueErrorDetector:
        given, model = self.settings.parameters, self._identified
        try:
            window, sensitivity = given['velocity_window'], float(given['sensitivity'])
            thresholds = arguments.thresholds or str(given['thresholds'])
            names = [field.name for field in fields(CollisionSettings)]
            options = {name: given[name] for name in names if name != 'joints'}
            values = np.array(self.settings.values, dtype=float)
            if len(values) != len(model.values):
                raise ValueError(f'{len(values)} values for {len(model.values)} parameters')
            torque = ModelTorque(
                model.model, values,
                velocity_window=window[0] if len(window) == 1 else np.array(window, dtype=float),
            )  # fmt: skip
            learned = load_thresholds(thresholds, model)
            settings = collision_settings(model.joints, options, learned)
        except (KeyError, TypeError, ValueError) as error:
            raise ControlError(
                f'{event}: the settings cannot be used ({type(error).__name__}: {error})'
            ) from error
        if given.get('motion_source') == 'reference':
            print('note: the monitor used the motion of its reference, the replay uses the '
                  'measured one', file=sys.stderr)  # fmt: skip
        detector = build_detector(model, torque, settings, learned)
        detector.sensitivity = sensitivity
        return detector

    def page(self, arguments: argparse.Namespace, facts: dict[str, Any], text: str) -> str:
        """Write event.html into the folder of the event; return its path, or why there is none."""
        arguments.out = arguments.recording
        start = 1e-9 * (self.settings.time - self.recording.origin)
        joints = self._identified.model.joints
        error, threshold = self._results
        curves = event_curves(self.recording.time, error, threshold, joints, start)
        try:
            facts = with_page(
                arguments, facts, text, name='event', title=self.settings.reason, curves=curves
            )
        except ConfigError as error:
            return f'no page: {error}'
        return f'written: {facts["files"]["report"]}'

    def describe(self) -> dict[str, Any]:
        """Return facts of the event; times are in [s] since its first sample."""
        error, threshold = np.nan_to_num(np.abs(self._results[0])), self._results[1]
        peaks = error.argmax(axis=0).tolist()
        time = self.recording.time - self.recording.time[0]
        return {
            'reason': self.settings.reason,
            'time': _time(self.settings),
            'model_hash': self.settings.model_hash,
            'joints': [
                {'name': name, 'torque_error': float(error[row, joint]),
                 'threshold': float(threshold[row, joint]), 'at': float(time[row])}
                for joint, (name, row) in enumerate(
                    zip(self._identified.joints, peaks, strict=True)
                )
            ],
        }  # fmt: skip


def event_text(facts: dict[str, Any]) -> str:
    """Return what `Replay.describe` found as text."""
    lines = [
        f'{facts["reason"]} ({facts["time"]}), model {facts["model_hash"][:12]}', '',
        f'{"joint":<20}{"largest torque error":>22}{"threshold":>12}{"at [s]":>10}',
    ]  # fmt: skip
    lines += [
        f'{row["name"]:<20}{row["torque_error"]:>22.4g}{row["threshold"]:>12.4g}{row["at"]:>10.3f}'
        for row in facts['joints']
    ]
    return '\n'.join([*lines, ''])


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
