# SPDX-License-Identifier: Apache-2.0
"""Measured torque, model torque and torque error over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn_ros.models.interface import Array, Joint
from robodyn_ros.report.numbers import encode_numbers, extremes, times
from robodyn_ros.report.source import ReportSignals

SERIES = ('torque', 'predicted', 'error')
LINES = (('measured', 'measured', 4.0), ('model', 'model', 1.3), ('error', 'error', 1.3))
EVENT_LINES = (
    ('threshold', 'measured', 1.3), ('threshold below', 'measured', 1.3),
    ('torque error', 'error', 1.3),
)  # fmt: skip
"""Name, colour and width of each curve."""


def curves(
    signals: ReportSignals, joints: tuple[Joint, ...], *, budget: int = 240_000
) -> dict[str, Any]:
    """Return the curves of an identification for the page's script."""
    series = [getattr(signals, name) for name in SERIES]
    return draw(signals.time, series, joints, budget=budget) | {'lines': LINES}


def draw(
    time: Array,
    series: Sequence[Array],
    joints: Sequence[Joint],
    *,
    most: int = 4000,
    budget: int = 240_000,
) -> dict[str, Any]:
    """Return curves for the page's script, thinned to the smallest and largest values.

    :param time: shape (N,), in [s]
    :param series: values of each joint, shape (N, n) each
    :param budget: numbers of all curves together, which bounds the size of the page
    """
    buckets = max(50, min(most, budget // (2 * len(series) * len(joints))))
    thin = [extremes(values, buckets) for values in series]
    return {
        'time': encode_numbers(times(time, buckets)),
        'joints': [
            {
                'name': joint.name,
                'unit': joint.torque_unit,
                'series': [encode_numbers(values[:, column]) for values in thin],
            }
            for column, joint in enumerate(joints)
        ],
        'samples': len(time),
        'points': len(thin[0]),
    }


def event_curves(
    time: Array, error: Array, threshold: Array, joints: Sequence[Joint], start: float
) -> dict[str, Any]:
    """Return the curves for the page's script; at first they show the start of the reactions.

    :param time: shape (N,), in [s]
    :param error: torque error, shape (N, n), in [Nm] or [N]
    :param threshold: collision thresholds in force, shape (N, n), in [Nm] or [N]
    :param start: time at which the reactions started, in [s]
    """
    return draw(time, (threshold, -threshold, error), joints) | {
        'lines': EVENT_LINES,
        'title': 'Torque error and threshold of each joint',
        'sentence': 'A collision is found where the torque error (model torque minus feedback) '
        f'leaves the thresholds. The reactions started at {start:.3f} s.',
        'focus': [max(start - 1.0, float(time[0])), min(start + 2.0, float(time[-1]))],
    }
