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
from robodyn_ros.models.interface import Array


def event_input(event: Event, path: Path, model_hash: str) -> HealthyInput:
    """Return an event as healthy data that are not left out as contact.

    :raises RobodynError: the event has another model, or no settled sample
    """
    setup = event.setup
    if setup.model.hash != model_hash:
        raise ControlError(
            f'{path}: the event has another model (hash {setup.model.hash[:12]}, expected '
            f'{model_hash[:12]})'
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
