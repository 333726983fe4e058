# SPDX-License-Identifier: Apache-2.0
"""Mass, centre of mass and inertia of each link: those of the URDF and the identified ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.inertia import INERTIAL_NAMES, INERTIAL_UNITS

CENTRE = ('centre x', 'centre y', 'centre z')


def links(model: DynamicModel, values: Array, stddevs: Array) -> list[dict[str, Any]]:
    """Return the rows of each link; [] for a model without links.

    :param values: of the parameters, shape (p,), SI
    :param stddevs: shape (p,); NaN: not identifiable on its own
    """
    prior = model.prior()
    return [
        {'name': name, 'rows': _rows(*(each[list(indices)] for each in (prior, values, stddevs)))}
        for name, indices in bodies_of(model).links
    ]


def _rows(prior: Array, values: Array, stddevs: Array) -> list[dict[str, Any]]:
    """Return mass, centre of mass, and inertia about the origin of the joint frame."""
    rows = [_row('mass', 'kg', prior[0], values[0], stddevs[0])]
    for k, name in enumerate(CENTRE, start=1):
        rows.append(_row(name, 'm', *_centre(prior, values, stddevs, k)))
    for k in range(4, 10):
        name, unit = INERTIAL_NAMES[k], INERTIAL_UNITS[k].replace('^2', '²')
        rows.append(_row(name, unit, prior[k], values[k], stddevs[k]))
    return rows


def _centre(prior: Array, values: Array, stddevs: Array, k: int) -> tuple[float, float, float]:
    """Return first moment over mass: of the URDF, identified, and standard deviation.

    Errors of moment and mass are taken as independent.
    """
    old, new = (each[k] / each[0] if each[0] > 0.0 else np.nan for each in (prior, values))
    spread = np.hypot(stddevs[k], new * stddevs[0]) / values[0] if values[0] > 0.0 else np.nan
    return float(old), float(new), float(spread)


def _row(name: str, unit: str, prior: float, value: float, stddev: float) -> dict[str, Any]:
    """Return a row with its 95 % interval (normal distribution)."""
    return {
        'name': name,
        'unit': unit,
        'prior': float(prior),
        'value': float(value),
        'interval': 1.96 * float(stddev),
        'observable': bool(np.isfinite(stddev)),
    }
