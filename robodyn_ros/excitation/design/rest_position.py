# SPDX-License-Identifier: Apache-2.0
"""Start and end position of a designed motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.constraints import Rule, first_broken
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.trajectory import Array, Motion

PLACES = 97
"""Positions of one joint at which the rules are checked; 97 of 4 pi are 7.5 degrees apart."""


def rest_position(
    limits: JointLimits, given: Sequence[float] | None, rules: Sequence[Rule] = ()
) -> Array:
    """Return the given position (n,), or the middle of the free ranges.

    The free range of a joint is the longest part of its range in which no rule is broken at rest
    with the other joints fixed. A joint without range is at 0, or as near to it as a limit allows.

    :param given: position in [rad] or [m]; None: choose one
    :raises MotionError: a wrong number of values, or values that are not finite
    """
    if given is not None:
        position = np.array(given, dtype=float)
        if position.shape != limits.lower.shape or not np.isfinite(position).all():
            raise MotionError(
                f'the position must be {len(limits.joints)} finite numbers, one for each of '
                f'{list(limits.joints)}, got {list(given)}'
            )
        return position
    low, high = (np.where(np.isfinite(v), v, 0.0) for v in (limits.lower, limits.upper))
    both = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    aside = np.clip(0.0, limits.lower + 0.5, limits.upper - 0.5)  # in [rad] or [m]
    middle: Array = np.where(both, 0.5 * (low + high), aside)
    for _ in range(3 if rules else 0):  # the free range of a joint depends on the others
        before = middle.copy()
        for joint in np.flatnonzero(both):
            middle[joint] = _free_middle(middle, int(joint), limits, rules)
        if (middle == before).all():
            break
    return middle


def _free_middle(position: Array, joint: int, limits: JointLimits, rules: Sequence[Rule]) -> float:
    """Return the middle of the free range of a joint; its position if there is none."""
    places = np.linspace(limits.lower[joint], limits.upper[joint], PLACES)
    poses = np.tile(position, (PLACES, 1))
    poses[:, joint] = places
    still = np.zeros((1, len(position)))
    free = [
        first_broken(rules, Motion(np.zeros(1), pose[None], still, still)).size == 0.0
        for pose in poses
    ]
    edges = np.flatnonzero(np.diff([0, *free, 0]))
    if not len(edges):
        return float(position[joint])
    starts, ends = edges[::2], edges[1::2] - 1
    longest = int(np.argmax(ends - starts))
    return float(0.5 * (places[starts[longest]] + places[ends[longest]]))
