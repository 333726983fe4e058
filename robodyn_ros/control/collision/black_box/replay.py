# SPDX-License-Identifier: Apache-2.0
"""Run of the detector over the calls of an event, compared bit by bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robodyn_ros.control.collision.black_box.event import Event
from robodyn_ros.control.collision.black_box.recorded_detector import (
    RecordedDetector,
    build_detector,
)
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.errors import RecordingError
from robodyn_ros.long_work import progress
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class Difference:
    """First result that differs from the recorded one.

    :param time: since the first call, in [s]
    :param quantity: level, torque_error or threshold
    """

    row: int
    time: float
    joint: str
    quantity: str
    recorded: float
    computed: float


def replay(event: Event) -> Difference | None:
    """Return the first difference, or None if all results are equal in every bit.

    :raises RobodynError: the event does not fit this version
    """
    for row, recorded in replayed(event):
        if found := _difference(event, recorded.detector, row):
            return found
    return None


def replayed(event: Event) -> Iterator[tuple[int, RecordedDetector]]:
    """Yield row and detector after each call of an event.

    :raises RobodynError: the event does not fit this version
    """
    recorded = build_detector(event.setup)
    try:
        recorded.restore(event.rows.state)
        for row in _run(event, recorded):
            yield row, recorded
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise RecordingError(f'the event cannot be replayed: {error}') from error


def _run(event: Event, recorded: RecordedDetector) -> Iterator[int]:
    rows = event.rows
    calls = {row: (name, argument) for row, name, argument in rows.calls}
    for row in range(len(rows.times)):
        progress('replaying', row / len(rows.times))
        if row in calls:
            recorded.call(*calls[row])
        else:
            q, qd, effort, *motion = rows.samples[row]
            given = None if np.isnan(motion[0]).any() else (motion[0], motion[1])
            # The conversion of efforts works in place; the event may be replayed again.
            recorded.update(int(rows.stamps[row]), q, qd, effort.copy(), given)
        yield row


def _difference(event: Event, detector: TorqueErrorDetector, row: int) -> Difference | None:
    rows = event.rows
    pairs: dict[str, tuple[Array, Array]] = {
        'level': (rows.level[row].astype(float), detector.level.astype(float)),
        'torque_error': (rows.results[row, 0], detector.torque_error),
        'threshold': (rows.results[row, 1], detector.threshold),
    }
    for quantity, (old, new) in pairs.items():
        differs = [a.tobytes() != b.tobytes() for a, b in zip(old, new, strict=True)]
        if any(differs):
            joint = differs.index(True)
            time = 1e-9 * float(rows.times[row] - rows.times[0])
            name = detector.joints[joint]
            return Difference(row, time, name, quantity, float(old[joint]), float(new[joint]))
    return None
