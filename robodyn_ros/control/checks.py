# SPDX-License-Identifier: Apache-2.0
"""Checks of settings: one sentence with name, range and value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array


def per_joint(name: str, values: ArrayLike, joints: Sequence[str], *, zero: bool = False) -> Array:
    """Return one positive, finite number per joint, shape (n,), from one or from n numbers.

    :raises ControlError: a wrong number of values, or one outside this range
    """
    array = np.array(values, dtype=float)
    if array.ndim == 0:
        array = np.full(len(joints), float(array))
    if array.shape != (len(joints),):
        raise ControlError(
            f'{name} needs one value for each of the {len(joints)} joints, got {array.size}'
        )
    for joint, value in zip(joints, array, strict=True):
        if not np.isfinite(value) or value < 0.0 or (value == 0.0 and not zero):
            least = 'at least' if zero else 'above'
            raise ControlError(f'{name} of joint {joint} must be {least} 0, got {value}')
    return array


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Refuse a value outside a closed range.

    :raises ControlError: naming value and range
    """
    if not low <= value <= high:
        raise ControlError(f'{name} must be from {low} to {high}, got {value}')


def check_above(name: str, value: float, least: float) -> None:
    """Refuse a value that is not finite and above a bound.

    :raises ControlError: naming value and bound
    """
    if not (value > least and np.isfinite(value)):
        raise ControlError(f'{name} must be above {least}, got {value}')


def check_joints(what: str, joints: Sequence[str], model: Sequence[str]) -> None:
    """Raise a ControlError if settings are not for the joints of the model, in their order."""
    if tuple(joints) != tuple(model):
        raise ControlError(
            f'the model has the joints {list(model)}, the {what} settings are for {list(joints)}'
        )
