# SPDX-License-Identifier: Apache-2.0
"""Coverage of position, velocity and acceleration by the recording, against limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.serial.urdf_file import UrdfFile
from robodyn_ros.report.source import ReportSignals

QUANTITIES = (('position', ''), ('velocity', '/s'), ('acceleration', '/s²'))
BINS = 40
"""Of the histograms, over the range between the limits."""
Stated = dict[str, dict[str, tuple[float, float]]]
"""Lowest and highest value by joint and quantity (position, velocity, acceleration), SI units."""


def coverage(
    model: DynamicModel,
    signals: ReportSignals,
    limits: Mapping[str, Mapping[str, Sequence[float]]],
) -> list[dict[str, Any]]:
    """Return ranges and histograms of each joint and quantity.

    A quantity without a limit is drawn over its range.

    :param limits: lowest and highest value by joint and quantity, see `list_limits`
    """
    result = []
    for column, joint in enumerate(model.joints):
        for name, per in QUANTITIES:
            values = getattr(signals, name)[:, column]
            low, high = limits.get(joint.name, {}).get(name, (np.nan, np.nan))
            result.append(
                {'joint': joint.name, 'quantity': name, 'unit': f'{joint.position_unit}{per}'}
                | _row(values, low, high)
            )
    return result


def _row(values: Array, low: float, high: float) -> dict[str, Any]:
    known = bool(np.isfinite([low, high]).all() and high > low)
    least, most = float(values.min()), float(values.max())
    start = min(low, least) if known else least
    end = max(high, most) if known else most
    counts, _ = np.histogram(values, BINS, (start, end) if end > start else (start, start + 1.0))
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


def list_limits(
    model: DynamicModel, urdf: UrdfFile | None = None, file: str | Path | None = None
) -> Stated:
    """Return the limits of the model's joints; those that are not known are left out.

    :param urdf: of the robot; None: that inside the model, if it has one
    :param file: in the form of MoveIt's joint_limits.yaml, or a robot file; it narrows those of
        the URDF, which has no accelerations
    :raises ConfigError: the file cannot be used, or names a joint that the robot does not have
    """
    if urdf is None:
        body = rigid_part(model)
        urdf = None if body is None else body.urdf
    limits = _of_urdf(model, urdf)
    if file is not None:
        others = () if urdf is None else tuple(joint.name for joint in urdf.joints)
        limits = load_limits(file, limits, others=others)
    return {joint: _ends(limits, column) for column, joint in enumerate(limits.joints)}


def _of_urdf(model: DynamicModel, urdf: UrdfFile | None) -> JointLimits:
    """Return the limits of a URDF; 0 for a velocity, or for all positions, is no limit."""
    count = len(model.joints)
    lower, upper, velocity = np.full((3, count), np.inf) * [[-1.0], [1.0], [1.0]]
    known = {} if urdf is None else {joint.name: joint for joint in urdf.joints}
    for column, name in enumerate(model.joint_names):
        joint = known.get(name)
        if joint is not None and joint.lower < joint.upper:
            lower[column], upper[column] = joint.lower, joint.upper
        if joint is not None and joint.velocity > 0.0:
            velocity[column] = joint.velocity
    units, endless = tuple(joint.position_unit for joint in model.joints), np.full(count, np.inf)
    return JointLimits(model.joint_names, units, lower, upper, velocity, endless, endless, endless)


def _ends(limits: JointLimits, column: int) -> dict[str, tuple[float, float]]:
    speed, rate = limits.velocity[column], limits.acceleration[column]
    ranges = {
        'position': (float(limits.lower[column]), float(limits.upper[column])),
        'velocity': (-float(speed), float(speed)),
        'acceleration': (-float(rate), float(rate)),
    }
    return {name: ends for name, ends in ranges.items() if np.isfinite(ends).all()}
