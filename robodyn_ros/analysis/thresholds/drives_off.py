# SPDX-License-Identifier: Apache-2.0
"""Samples whose torque feedback is not alive: drives off, or a frozen signal."""

from __future__ import annotations

import numpy as np

from robodyn_ros.analysis.thresholds.session import Mask
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording


def drives_off(
    recording: Recording, gravity: Array, *, longest: float = 1.0, settling: float = 0.5
) -> Mask:
    """Return the samples at which the torque of a joint does not change although it must.

    A constant torque is impossible for long while its joint moves, and zero is impossible at rest
    under gravity.

    :param gravity: torque of the model at rest in each position, shape (N, n), in [Nm] or [N]
    :param longest: longest constant torque of a moving joint, in [s]: coarse current
        measurements repeat values, but not for so long
    :param settling: time after it in which the torque comes back, in [s]
    :return: shape (N,)
    """
    count = max(2, round(longest / recording.period))
    stuck = _runs(np.diff(recording.torque, axis=0) == 0.0, count)
    moving = _runs(np.diff(recording.position, axis=0) != 0.0, count)
    loaded = np.abs(gravity) > 0.1 * np.abs(recording.torque).max(axis=0)
    off: Mask = (stuck & (moving | (loaded & (recording.torque == 0.0)))).any(axis=1)
    for end in np.flatnonzero(off[:-1] & ~off[1:]):
        off[end : np.searchsorted(recording.time, recording.time[end] + settling)] = True
    return off


def _runs(same: Mask, count: int) -> Mask:
    """Return the samples inside runs of at least `count` true steps; from (N - 1, n) to (N, n)."""
    result = np.zeros((len(same) + 1, same.shape[1]), dtype=bool)
    for joint, column in enumerate(same.T):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], column, [False]]).astype(np.int8)))
        for start, end in edges.reshape(-1, 2):
            if end - start >= count:
                result[start : end + 1, joint] = True
    return result
