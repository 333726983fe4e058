# SPDX-License-Identifier: Apache-2.0
"""Coverage of position, velocity and acceleration by the recording, against limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.report.source import ReportSignals

QUANTITIES = (('position', ''), ('velocity', '/s'), ('acceleration', '/s²'))


def coverage(
    model: DynamicModel, signals: ReportSignals, *, bins: int = 40
) -> list[dict[str, Any]]:
    """Return ranges and histograms of each joint and quantity.

    A URDF has limits of position and velocity. A quantity without a limit is drawn over its range.

    :param bins: of the histograms, over the range between the limits
    """
    found = []
    for column, joint in enumerate(model.joints):
        limits = _limits(model, joint.name)
        for name, per in QUANTITIES:
            values = getattr(signals, name)[:, column]
            low, high = limits.get(name, (np.nan, np.nan))
            found.append(
                {'joint': joint.name, 'quantity': name, 'unit': f'{joint.position_unit}{per}'}
                | _row(values, low, high, bins)
            )
    return found


def _row(values: Array, low: float, high: float, bins: int) -> dict[str, Any]:
    known = bool(np.isfinite([low, high]).all() and high > low)
    least, most = float(values.min()), float(values.max())
    start = min(low, least) if known else least
    end = max(high, most) if known else most
    counts, _ = np.histogram(values, bins, (start, end) if end > start else (start, start + 1.0))
    return {
        'low': low if known else None,
        'high': high if known else None,
        'min': least,
        'max': most,
        'start': start,
        'end': end,
        'used': (most - least) / (high - low) if known else None,
        'density': np.sqrt(counts / max(counts.max(), 1)).tolist(),
    }


def _limits(model: DynamicModel, joint: str) -> dict[str, tuple[float, float]]:
    part = rigid_part(model)
    for each in () if part is None else part.urdf.joints:
        if each.name == joint:
            turns = each.type == 'continuous'
            return {
                'velocity': (-each.velocity, each.velocity),
                **({} if turns else {'position': (each.lower, each.upper)}),
            }
    return {}
