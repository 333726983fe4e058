# SPDX-License-Identifier: Apache-2.0
"""Torque error of an event against its thresholds, over time."""

from __future__ import annotations

from typing import Any

from robodyn_ros.control.collision.black_box.event import Event
from robodyn_ros.report.curves import draw
from robodyn_ros.report.event.facts import start_of

LINES = (
    ('threshold', 'measured', 1.3), ('threshold below', 'measured', 1.3),
    ('torque error', 'error', 1.3),
)  # fmt: skip
"""Name, colour and width of each curve."""


def event_curves(event: Event) -> dict[str, Any]:
    """Return the curves for the page's script; at first they show the start of the reactions."""
    rows = event.rows
    time = 1e-9 * (rows.times - rows.times[0])
    error, threshold = rows.results[:, 0], rows.results[:, 1]
    start, end = 1e-9 * (start_of(event) - int(rows.times[0])), float(time[-1])
    return draw(time, (threshold, -threshold, error), event.setup.model.model.joints) | {
        'lines': LINES,
        'title': 'Torque error and threshold of each joint',
        'sentence': 'A collision is found where the torque error (model torque minus feedback) '
        f'leaves the thresholds. The reactions started at {start:.3f} s.',
        'focus': [max(start - 1.0, 0.0), min(start + 2.0, end)],
    }
