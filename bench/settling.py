# SPDX-License-Identifier: Apache-2.0
"""Settling of a robot at its target: softMC's ISSETTLED.

SoftMC document "Inverse dynamic model", section "Demonstration of tracking improvements": when the
motion profiler has completed, and |target - actual position| has been at most PESETTLE for
TIMESETTLE, ISSETTLED is set. For a group of axes the error is the root of the sum of the squares,
in degrees and millimetres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class Settling:
    """End of a motion; times are from the profile's end, in [s], NaN if it never settled.

    :param time: time until ISSETTLED is set, at the end of the window of TIMESETTLE
    :param entered: start of that window
    :param last_outside: time of the last error above the tolerance; 0: none. It is after
        `entered` if the robot left the window again
    """

    time: float
    entered: float
    last_outside: float


def group_error(error: Array, prismatic: Sequence[bool]) -> Array:
    """Combine the axes' errors orthogonally, shape (N,), in degrees and millimetres.

    :param error: target minus actual position, shape (N, n), in [rad] or [m]
    :param prismatic: which of the n axes are linear
    """
    units = np.where(prismatic, 1e3, np.rad2deg(1.0))
    result: Array = np.sqrt(np.square(error * units).sum(axis=1))
    return result


def settling(
    time: Array, error: Array, *, end: float, tolerance: float, duration: float
) -> Settling:
    """Determine when a motion has settled.

    :param time: of the samples, shape (N,), in [s], increasing
    :param error: magnitude of the position error, shape (N,), see `group_error`
    :param end: when the motion profiler completed, in [s]
    :param tolerance: PESETTLE, in the unit of the error
    :param duration: TIMESETTLE, in [s]; 0 (softMC's default): the first sample within tolerance
    :raises ControlError: no sample after the end, or an invalid tolerance or duration
    """
    if not tolerance > 0.0 or not duration >= 0.0:
        raise ControlError(
            f'settling needs a tolerance above 0 and a duration not below 0, got {tolerance} '
            f'and {duration}'
        )
    after = time >= end - 1e-9
    time, outside = time[after] - end, ~(error[after] <= tolerance)
    if not len(time):
        raise ControlError(f'there is no sample after the motion ended at {end:.6g} s')
    entered = flag = np.nan
    # Windows start at the first sample and after every sample outside.
    begins = np.flatnonzero(~outside & np.append(True, outside[:-1]))
    ends = np.append(np.flatnonzero(outside), len(time))
    for begin in begins:
        last = ends[np.searchsorted(ends, begin)] - 1
        if time[last] - time[begin] >= duration - 1e-9:
            entered, flag = float(time[begin]), float(time[begin] + duration)
            break
    late = np.flatnonzero(outside)
    return Settling(flag, entered, float(time[late[-1]]) if len(late) else 0.0)
