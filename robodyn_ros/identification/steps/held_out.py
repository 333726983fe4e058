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
    """Refuse a validation on the data of the fit, also on a part of it or from another file.

    :param joints: of the model, whose signals are compared
    :raises IdentificationError: samples of the validation are in a recording of the fit; with
        'leave-one-out', two recordings have samples in common
    """
    if validation is None:
        return
    others = None if isinstance(validation, str) else [validation]
    for fitted, tested in product(recordings, others) if others else combinations(recordings, 2):
        share = _common_share(fitted, tested, joints)
        if share:
            raise IdentificationError(
                f'the validation on {tested.source} has samples of {fitted.source} (about '
                f'{share:.0%} of the shorter one), to which the parameters are fitted, so it '
                f'validates nothing: validate on another recording, or keep the last part of '
                f'this one (robodyn identify --split 0.8)'
            )


def _common_share(one: Recording, other: Recording, joints: Sequence[str]) -> float:
    """Return about which share of the shorter recording is in the longer one, whatever its time.

    Pieces of consecutive samples all over the shorter one are looked for, each long enough that
    noise is not repeated by chance. Pieces in which nothing changes are left out.
    """
    if not {*joints} <= {*one.joints} & {*other.joints}:
        return 0.0
    shorter, longer = sorted((one.select(joints), other.select(joints)), key=len)
    length = min(64, len(shorter))
    starts = np.unique(np.linspace(0, len(shorter) - length, 20).astype(np.intp))
    # torque first: most samples differ in its noise already
    signals = [shorter.torque, shorter.position], [longer.torque, longer.position]
    most = [ROUNDING * (high - low) for low, high in map(extremes, signals[1])]
    found = []
    for start in starts:
        piece = [values[start : start + length] for values in signals[0]]
        changes = [np.ptp(part, axis=0) > room for part, room in zip(piece, most, strict=True)]
        if all(each.any() for each in changes):
            found.append(_is_in(piece, signals[1], most))
    return float(np.mean(found)) if found else 0.0


def _is_in(piece: Sequence[Array], signals: Sequence[Array], most: Sequence[Array]) -> bool:
    """Return True if consecutive samples are among the signals.

    :param piece: torques and positions, shapes (m, n)
    :param signals: the same of a recording, shapes (N, n)
    :param most: largest difference of equal signals, shapes (n,)
    """
    length = len(piece[0])
    for block in sweep(*signals):
        starts = np.arange(block.start, min(block.stop, len(signals[0]) - length + 1))
        for sample in range(length):
            for own, values, room in zip(piece, signals, most, strict=True):
                for joint, limit in enumerate(room):
                    difference = values[starts + sample, joint] - own[sample, joint]
                    starts = starts[np.abs(difference) <= limit]
        if len(starts):
            return True
    return False
