# SPDX-License-Identifier: Apache-2.0
"""Numbers and poses in the attributes of a URDF."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array

_NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)


def attribute(element: ET.Element, key: str, where: str) -> str:
    """Return a non-empty attribute; a ModelError if it is missing."""
    value = element.get(key)
    if not value:
        raise ModelError(f'{where}: <{element.tag}> has no {key}')
    return value


def numbers(
    element: ET.Element,
    key: str,
    where: str,
    default: Sequence[float] | None = None,
    *,
    count: int = 1,
    least: float = -np.inf,
) -> Array:
    """Read finite numbers of an attribute, and remove blanks around them from the element.

    Other readers of a URDF (urdfdom) refuse such blanks. Python's `float` takes digits of other
    scripts and underscores, which they refuse too.

    :param default: used if it is missing, has `count` numbers; None: the attribute is required
    :param least: smallest value of each number
    :raises ModelError: it is missing, or not as many numbers that are finite and large enough
    """
    text = element.get(key)
    if text is None:
        if default is None:
            raise ModelError(f'{where}: <{element.tag}> has no {key}')
        return np.array(default, dtype=np.float64)
    count = count if default is None else len(default)
    words = [word for word in text.split(' ') if word]
    values = np.array([float(word) if _NUMBER.fullmatch(word) else np.nan for word in words])
    if len(values) != count or not (np.isfinite(values) & (values >= least)).all():
        expected = 'a finite number' if count == 1 else f'{count} finite numbers'
        bound = f' of at least {least:g}' if np.isfinite(least) else ''
        raise ModelError(
            f'{where}: {key} of <{element.tag}> must be {expected}{bound}, got "{text:.60}"'
        )
    element.set(key, text.strip())
    return values


def transform(origin: ET.Element | None, where: str) -> Array:
    """Return the homogeneous transform (4, 4) of an <origin> (fixed-axis roll, pitch, yaw).

    :raises ModelError: as `numbers`
    """
    result = np.eye(4)
    if origin is None:
        return result
    result[:3, 3] = numbers(origin, 'xyz', where, (0.0, 0.0, 0.0))
    result[:3, :3] = _rotation(numbers(origin, 'rpy', where, (0.0, 0.0, 0.0)))
    return result


def limits(element: ET.Element | None, kind: str, where: str) -> dict[str, float]:
    """Return the limits of a <limit> by their attributes, without those that are not set.

    :param kind: type of the joint
    :raises ModelError: as `numbers`, or a limit that cannot hold
    """
    if element is None:
        return {}
    keys = ['velocity', 'effort'] + ([] if kind == 'continuous' else ['lower', 'upper'])
    given = {key: float(numbers(element, key, where, (0.0,))[0]) for key in keys}
    for key in ('velocity', 'effort'):
        # Exporters write 0 or -1 for a limit that is not set.
        if given[key] in (0.0, -1.0):
            del given[key]
        elif given[key] < 0.0:
            raise ModelError(f'{where}: {key} of <limit> must be above 0, got {given[key]:g}')
    if given.get('lower', 0.0) > given.get('upper', 0.0):
        raise ModelError(
            f'{where}: lower limit {given["lower"]} is above upper limit {given["upper"]}'
        )
    if given.get('lower') == given.get('upper') == 0.0:
        del given['lower'], given['upper']
    return given


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
