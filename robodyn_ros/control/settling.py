"""When a robot has come to rest at its target: softMC's ISSETTLED.

Source: softMC document "Inverse dynamic model", section "Demonstration of tracking improvements":
when the motion profiler has completed, |target position - actual position| is compared with
PESETTLE; when it has been less than or equal for TIMESETTLE, ISSETTLED is set. For a group of axes
the softMC combines the axes' errors orthogonally (the root of the sum of their squares), in the
axes' user units, degrees and millimetres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array

MILLIMETRES = 1e3


@dataclass(frozen=True)
class Settling:
    """How a motion ended; times are from the profile's end, in [s], NaN if it never settled.

    :param time: until ISSETTLED is set: until the window has lasted TIMESETTLE
    :param entered: until that window began
    :param last_outside: until the error was too large for the last time recorded; 0: never was.
        It is after `entered` if the robot left the window again
    """

    time: float
    entered: float
    last_outside: float


def group_error(error: Array, prismatic: Sequence[bool]) -> Array:
    """Orthogonal combination of the axes' errors, shape (N,), in degrees and millimetres.

    :param error: target minus actual position, shape (N, n), in [rad] or [m]
    :param prismatic: which of the n axes are linear
    """
    units = np.where(prismatic, MILLIMETRES, np.rad2deg(1.0))
    result: Array = np.sqrt(np.square(error * units).sum(axis=1))
    return result


def settling(
    time: Array, error: Array, *, end: float, tolerance: float, duration: float
) -> Settling:
    """Find out when a motion had settled.

    :param time: of the samples, shape (N,), in [s], increasing
    :param error: magnitude of the position error, shape (N,), see `group_error`
    :param end: when the motion profiler completed, in [s]
    :param tolerance: PESETTLE, in the unit of the error
    :param duration: TIMESETTLE, in [s]; 0, the softMC's default: the first sample within counts
    :raises ControlError: no sample after the end, or a tolerance or duration that is none
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
    # Windows begin at the first sample and after every one outside.
    begins = np.flatnonzero(~outside & np.append(True, outside[:-1]))
    ends = np.append(np.flatnonzero(outside), len(time))
    for begin in begins:
        last = ends[np.searchsorted(ends, begin)] - 1
        if time[last] - time[begin] >= duration - 1e-9:
            entered, flag = float(time[begin]), float(time[begin] + duration)
            break
    late = np.flatnonzero(outside)
    return Settling(flag, entered, float(time[late[-1]]) if len(late) else 0.0)
