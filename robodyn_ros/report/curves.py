# SPDX-License-Identifier: Apache-2.0
"""Measured torque, model torque and torque error over time."""

from __future__ import annotations

from typing import Any

from robodyn_ros.models.interface import Joint
from robodyn_ros.report.numbers import extremes, packed, times
from robodyn_ros.report.source import ReportSignals

SERIES = ('torque', 'predicted', 'error')


def curves(
    signals: ReportSignals, joints: tuple[Joint, ...], *, most: int = 4000, budget: int = 240_000
) -> dict[str, Any]:
    """Return the curves for the page's script, thinned to the smallest and largest values.

    :param most: buckets per curve at most
    :param budget: numbers of all curves together, which bounds the size of the page
    """
    count, samples = len(joints), len(signals.time)
    buckets = max(50, min(most, budget // (2 * len(SERIES) * count)))
    thin = [extremes(getattr(signals, name), buckets) for name in SERIES]
    return {
        'time': packed(times(signals.time, buckets)),
        'joints': [
            {
                'name': joint.name,
                'unit': joint.torque_unit,
                'series': [packed(values[:, column]) for values in thin],
            }
            for column, joint in enumerate(joints)
        ],
        'samples': samples,
        'points': len(thin[0]),
    }
