# SPDX-License-Identifier: Apache-2.0
"""Friction over velocity: the identified law, and the recorded friction."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
from robodyn_ros.models.springs import SpringModel, slip_friction
from robodyn_ros.report.numbers import choose_evenly
from robodyn_ros.report.source import ReportSignals


def friction_curves(
    model: DynamicModel,
    values: Array,
    signals: ReportSignals,
    thresholds: list[float],
) -> list[dict[str, Any]]:
    """Return law and data of each joint; [] for a model without friction.

    Data are measured torque minus that of the model without friction. The law is drawn at the
    median load where it depends on the load, so that data scatter about it.

    :param thresholds: velocity below which samples are left out, shape (n,)
    """
    parts = [(p, rows) for p, rows in parts_of(model) if isinstance(p, FrictionModel)]
    if not parts:
        return []
    friction, rows = parts[0]
    motion = signals.position, signals.velocity, signals.acceleration
    slips = slip_friction(model, values)
    data = friction.torque(*motion, values[rows]) - signals.error
    for part, places in parts_of(model):  # a slip that slides is dry friction
        if isinstance(part, SpringModel) and part.slips:
            slipping = np.tile(part.yields[:, 0] > 0.0, len(part.joints))
            data += part.torque(*motion, np.where(slipping, values[places], 0.0))
    load = _median_load(friction, signals)
    curves = []
    for column, joint in enumerate(friction.joints):
        speed = signals.velocity[:, column]
        moving = np.flatnonzero(np.abs(speed) > max(thresholds[column], 1e-9))
        if not len(moving):
            continue
        grid = _grid(float(speed.min()), float(speed.max()))
        states = np.zeros((len(grid), len(friction.joints)))
        states[:, column] = grid
        law = friction.regressor_under_load(states, load)[:, column] @ values[rows]
        law += slips[column] * np.sign(grid)
        chosen = moving[choose_evenly(len(moving), 300)]
        curves.append(
            {
                'name': joint.name,
                'unit': joint.torque_unit,
                'speed_unit': f'{joint.position_unit}/s',
                'speed': speed[chosen].tolist(),
                'torque': data[chosen, column].tolist(),
                'grid': grid.tolist(),
                'law': law.tolist(),
                'terms': ', '.join([*friction.terms, *(['slip'] if slips.any() else [])]),
            }
        )
    return curves


def _grid(low: float, high: float) -> Array:
    """Return velocities below and above 0, where a law may jump; the halves meet at 0."""
    near = 1e-6 * max(high - low, 1e-9)
    below = np.linspace(low, -near, 80) if low < -near else np.zeros(0)
    above = np.linspace(near, high, 80) if high > near else np.zeros(0)
    return np.concatenate([below, above])


def _median_load(friction: FrictionModel, signals: ReportSignals) -> Array | float:
    """Return the median load of each joint, shape (n,), in [Nm] or [N]."""
    if friction.load is None:
        return 0.0
    rows = choose_evenly(len(signals.time), 2000)
    motion = (signals.position, signals.velocity, signals.acceleration)
    return np.median(friction.load.torque(*(each[rows] for each in motion)), axis=0)
