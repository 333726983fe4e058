# SPDX-License-Identifier: Apache-2.0
"""Measured torque, model torque and torque error over time."""

from __future__ import annotations

from typing import Any

from robodyn_ros.models.interface import Joint
from robodyn_ros.report.numbers import encode_numbers, extremes, times
from robodyn_ros.report.source import ReportSignals

SERIES = ('torque', 'predicted', 'error')
LINES = (('measured', 'measured', 4.0), ('model', 'model', 1.3), ('error', 'error', 1.3))
"""Name, colour and width of each curve."""
NUMBERS = 240_000
"""Of all curves together, which bounds the size of the page."""


def curves(signals: ReportSignals, joints: tuple[Joint, ...]) -> dict[str, Any]:
    """Return the curves for the page's script, thinned to the smallest and largest values."""
    buckets = max(50, min(4000, NUMBERS // (2 * len(SERIES) * len(joints))))
    thin = [extremes(getattr(signals, name), buckets) for name in SERIES]
    return {
        'time': encode_numbers(times(signals.time, buckets)),
        'joints': [
            {
                'name': joint.name,
                'unit': joint.torque_unit,
                'series': [encode_numbers(values[:, column]) for values in thin],
            }
            for column, joint in enumerate(joints)
        ],
        'samples': len(signals.time),
        'points': len(thin[0]),
        'lines': LINES,
    }
