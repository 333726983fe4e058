# SPDX-License-Identifier: Apache-2.0
"""Checked arguments of motions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.bounds import NUMBER, TERMS, check_bound
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array

Rows = Sequence[Sequence[float]] | Array
"""One row of numbers per joint."""


def joint_names(joints: Sequence[str]) -> tuple[str, ...]:
    """Check the joints of a motion.

    :raises MotionError: none, or one named twice
    """
    if not joints:
        raise MotionError('a motion needs at least one joint')
    twice = sorted({name for name in joints if list(joints).count(name) > 1})
    if twice:
        raise MotionError(f'the motion names joint {twice[0]!r} more than once')
    return tuple(joints)


def numbers(name: str, values: object) -> Array:
    """Copy numbers into an array of any shape.

    :raises MotionError: values that are not numbers, or rows of different lengths
    """
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise MotionError(f'{name} must be numbers, got {values!r:.80}') from error


def broadcast(name: str, values: object, count: int, each: str = '') -> Array:
    """Return as many numbers as needed, shape (count,), from one for all or from all of them.

    :param each: object that each number belongs to, the end of a message about another count
    :raises MotionError: another count
    """
    given = numbers(name, values)
    if given.ndim == 0:
        given = np.full(count, float(given))
    if given.shape != (count,):
        raise MotionError(f'{name} must have {count} values{each}, got {given.size}')
    return given


def per_joint(joints: Sequence[str], name: str, values: object) -> Array:
    """Return one finite number per joint, shape (n,), read-only, from one or from n numbers.

    :raises MotionError: another count, NaN or infinite values; the joint is named
    """
    given = broadcast(name, values, len(joints), f', one for each of {list(joints)}')
    return _finite(joints, name, given)


def rows_per_joint(joints: Sequence[str], **values: Rows) -> list[Array]:
    """Return matrices with one row of finite numbers per joint, all of shape (n, k), read-only.

    :raises MotionError: a wrong shape, NaN or infinite values; the joint is named
    """
    result = []
    for name, rows in values.items():
        given = numbers(name, rows)
        if given.ndim != 2 or given.shape[0] != len(joints) or given.shape[1] == 0:
            raise MotionError(
                f'{name} must be {len(joints)} rows, one for each of {list(joints)}, '
                f'all equally long, got the shape {given.shape}'
            )
        check_bound(TERMS, given.shape[1], name)
        result.append(_finite(joints, name, given))
    if len({given.shape for given in result}) > 1:
        counts = ' and '.join(str(given.shape[1]) for given in result)
        raise MotionError(f'{" and ".join(values)} must have as many columns, got {counts}')
    return result


def check_frequencies(joints: Sequence[str], frequency: Array) -> None:
    """Refuse frequencies, in [Hz], that are not above zero.

    :param frequency: shape (n,) or (n, k)
    :raises MotionError: naming the joint
    """
    for name, value in zip(joints, frequency, strict=True):
        if not np.all(value > 0.0):
            raise MotionError(f'frequency of joint {name!r} must be above 0 Hz, got {value}')


def _finite(joints: Sequence[str], name: str, values: Array) -> Array:
    """Return the values of joints (first axis), read-only, if all of them can be motion."""
    usable = np.abs(values) <= NUMBER.most  # False for NaN too
    if not usable.all():
        place = tuple(np.argwhere(~usable)[0])
        raise MotionError(
            f'{name} of joint {joints[place[0]]!r} is {values[place]}, expected a number of at '
            f'most {NUMBER.most:.0e}'
        )
    values.flags.writeable = False
    return values
