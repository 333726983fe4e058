# SPDX-License-Identifier: Apache-2.0
"""Correction of the time offset of torque against motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import make_interp_spline

from robodyn_ros.identification.signals.processed import Processed


@dataclass(frozen=True)
class TimeOffset:
    """Delay of a joint's torque relative to the motion.

    :param seconds: positive: later
    :param gain: share by which shifting it back reduces the squared residual of the joint alone
    :param applied: whether it is corrected; not if it is below one sample and does not explain
        most of the residual
    """

    seconds: float
    gain: float
    applied: bool = True


def correct_offsets(signals: Processed, offsets: Mapping[int, TimeOffset]) -> Processed:
    """Return signals with the torque of these joints shifted, by cubic splines.

    Samples beyond the ends are cut off for all joints.
    """
    offsets = {joint: offset for joint, offset in offsets.items() if offset.applied}
    if not offsets:
        return signals
    torque, measured = signals.torque.copy(), signals.measured.copy()
    for joint, offset in offsets.items():
        for values in (torque, measured):
            spline = make_interp_spline(signals.time, values[:, joint], k=3)
            values[:, joint] = spline(signals.time + offset.seconds)
    shifts = [offset.seconds for offset in offsets.values()]
    first = int(np.searchsorted(signals.time, signals.time[0] - min(*shifts, 0.0)))
    last = int(np.searchsorted(signals.time, signals.time[-1] - max(*shifts, 0.0), side='right'))
    return replace(signals, torque=torque, measured=measured).cut(slice(first, last))
