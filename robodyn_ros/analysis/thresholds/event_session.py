# SPDX-License-Identifier: Apache-2.0
"""Event of the black box as a healthy session: the operator says that it was no contact."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn_ros.analysis.thresholds.healthy_data import HealthyInput
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.black_box.event import Event
from robodyn_ros.control.collision.black_box.replay import replayed
from robodyn_ros.control.collision.thresholds_file import DETECTOR
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, parts_of


def event_input(event: Event, path: Path, identified: IdentifiedModel) -> HealthyInput:
    """Return an event as healthy data that are not left out as contact.

    :raises RobodynError: the event has another model or payload, or no settled sample
    """
    setup = event.setup
    if setup.model.hash != identified.hash:
        raise ControlError(
            f'{path}: the event has another model (hash {setup.model.hash[:12]}, expected '
            f'{identified.hash[:12]})'
        )
    rows: list[Array] = []
    stamps: list[float] = []
    started: list[bool] = []
    before = False
    for row, recorded in replayed(event):
        detector = recorded.detector
        stamp = 1e-9 * float(event.rows.stamps[row] - event.rows.stamps[0])
        sampled = bool(np.isfinite(event.rows.samples[row, :3]).all())
        if not detector.settled or (stamps and stamp <= stamps[-1]):
            before = before and not sampled
            continue
        if sampled:
            _check_payload(recorded.values, path, identified)
            position = event.rows.samples[row, 0]
            change = np.full_like(position, np.nan) if detector.change is None else detector.change
            rows.append(np.array([detector.torque_error, *detector.motion, position, change]))
            stamps.append(stamp)
            started.append(not before)
            before = True
    if len(rows) < 2:
        raise ControlError(f'{path}: the event has no settled samples')
    residual, velocity, acceleration, position, change = np.array(rows).swapaxes(0, 1)
    session = Session(
        str(path), np.array(stamps), np.abs(residual), velocity, np.abs(acceleration),
        np.ones(len(rows), dtype=bool), np.array(started), vouched=True, change=np.abs(change),
    )  # fmt: skip
    detector_values = {name: getattr(setup.settings, name) for name in DETECTOR}
    return HealthyInput(session, position, detector_values)


def _check_payload(values: Array, path: Path, identified: IdentifiedModel) -> None:
    """Refuse a sample with another payload than that of the result.

    An event has no hash of its payload, but the parameter values in use. Those of friction are
    not compared, because the monitor tracks friction.

    :param values: in use at the sample, shape (p,), SI
    """
    error = np.abs(values - identified.loaded)
    for part, place in parts_of(identified.model):
        if isinstance(part, FrictionModel):
            error[place] = 0.0
    # The same payload may differ by rounding.
    if error.max(initial=0.0) > 1e-9 * np.abs(identified.loaded).max():
        raise ControlError(
            f'{path}: the event was recorded with another payload than that of '
            f'{identified.source}, to which the thresholds belong: leave out the event, or give '
            f'a result with its payload'
        )
