# SPDX-License-Identifier: Apache-2.0
"""Torque error of an event against its thresholds, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn_ros.models.interface import Array, Joint
from robodyn_ros.report.curves import drawn

LINES = (
    ('threshold', 'measured', 1.3), ('threshold below', 'measured', 1.3),
    ('torque error', 'error', 1.3),
)  # fmt: skip
"""Name, colour and width of each curve."""


def event_curves(
    time: Array, error: Array, threshold: Array, joints: Sequence[Joint], start: float
) -> dict[str, Any]:
    """Return the curves for the page's script; at first they show the start of the reactions.

    :param time: shape (N,), in [s]
    :param error: torque error, shape (N, n), in [Nm] or [N]
    :param threshold: collision thresholds in force, shape (N, n), in [Nm] or [N]
    :param start: time at which the reactions started, in [s]
    """
    return drawn(time, (threshold, -threshold, error), joints) | {
        'lines': LINES,
        'title': 'Torque error and threshold of each joint',
        'sentence': 'A collision is found where the torque error (model torque minus feedback) '
        f'leaves the thresholds. The reactions started at {start:.3f} s.',
        'focus': [max(start - 1.0, float(time[0])), min(start + 2.0, float(time[-1]))],
    }
