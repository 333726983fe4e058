# SPDX-License-Identifier: Apache-2.0
"""Numbers and poses in the attributes of a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array


def attribute(element: ET.Element, key: str, where: str) -> str:
    """Return a non-empty attribute; a ModelError if it is missing."""
    value = element.get(key)
    if not value:
        raise ModelError(f'{where}: <{element.tag}> has no {key}')
    return value


def numbers(
    element: ET.Element | None, key: str, where: str, default: Sequence[float] | None
) -> Array:
    """Read finite numbers of an attribute.

    :param default: used if it is missing; None: one number is required
    :raises ModelError: it is missing, or not as many finite numbers
    """
    text = None if element is None else element.get(key)
    if text is None:
        if default is None:
            tag = 'element' if element is None else f'<{element.tag}>'
            raise ModelError(f'{where}: {tag} has no {key}')
        return np.array(default, dtype=np.float64)
    count = 1 if default is None else len(default)
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.array([np.nan])
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ModelError(f'{where}: {key} must be {count} finite number(s), got "{text}"')
    return values


def transform(origin: ET.Element | None, where: str) -> Array:
    """Return the homogeneous transform (4, 4) of an <origin> (fixed-axis roll, pitch, yaw).

    :raises ModelError: as `numbers`
    """
    result = np.eye(4)
    result[:3, 3] = numbers(origin, 'xyz', where, (0.0, 0.0, 0.0))
    result[:3, :3] = _rotation(numbers(origin, 'rpy', where, (0.0, 0.0, 0.0)))
    return result


def _rotation(rpy: Array) -> Array:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll), with exact zeros and ones at multiples of pi/2."""
    cosine, sine = np.cos(rpy), np.sin(rpy)
    for value in (cosine, sine):  # near a multiple of pi/2 the other is exactly 1 or -1
        value[np.abs(value) < 1e-15] = 0.0
    (cr, cp, cy), (sr, sp, sy) = cosine, sine
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
