# SPDX-License-Identifier: Apache-2.0
"""Check that a validation has other data than the fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.options import LeaveOneOut
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.storage import extremes, sweep

ROUNDING = 1e-6
"""Largest difference of equal signals, relative to their range: a table has fewer digits than a
bag. The torque of another run of the same motion differs by its noise."""


def check_held_out(
    recordings: Sequence[Recording],
    validation: Recording | LeaveOneOut | None,
    joints: Sequence[str],
) -> None:
    """Refuse a validation on the data of the fit, also if it was read from another file.

    :param joints: of the model, whose signals are compared
    :raises IdentificationError: the validation has the samples of a recording of the fit; with
        'leave-one-out', two recordings have the same samples
    """
    if validation is None:
        return
    others = None if isinstance(validation, str) else [validation]
    for fitted, tested in product(recordings, others) if others else combinations(recordings, 2):
        if _same(fitted, tested, joints):
            raise IdentificationError(
                f'the validation on {tested.source} has the samples of {fitted.source}, to which '
                f'the parameters are fitted, so it validates nothing: validate on another '
                f'recording, or keep the last part of this one (robodyn identify --split 0.8)'
            )


def _same(one: Recording, other: Recording, joints: Sequence[str]) -> bool:
    """Return True if two recordings have the same positions and torques, whatever their times."""
    if len(one) != len(other) or not {*joints} <= {*one.joints} & {*other.joints}:
        return False
    one, other = one.select(joints), other.select(joints)
    return _equal(one.position, other.position) and _equal(one.torque, other.torque)


def _equal(first: Array, second: Array) -> bool:
    low, high = extremes(first)
    most = ROUNDING * (high - low)
    return all(
        bool((np.abs(first[rows] - second[rows]) <= most).all()) for rows in sweep(first, second)
    )
