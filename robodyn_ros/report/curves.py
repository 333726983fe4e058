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
