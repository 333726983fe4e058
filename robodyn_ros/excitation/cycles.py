# SPDX-License-Identifier: Apache-2.0
"""Cycles that each joint completes in a motion, and a rule that asks for enough of them.

Source: softMC document "Inverse dynamic model", section "Data acquisition": every joint should run
through at least three cycles.
"""

from __future__ import annotations

import numpy as np

from robodyn_ros.excitation.limits.constraints import Excess, Rule, States
from robodyn_ros.excitation.trajectory import Array, Motion

CYCLES = 3
"""Smallest number of cycles of every joint, and of cycles until a pattern repeats."""


def count_cycles(position: Array) -> Array:
    """Return the cycles of each joint (n,): travel over twice the stroke, or half its reversals.

    The larger of both, so that small swings within a big one count. Positions have shape (N, n).
    """
    stroke = np.ptp(position, axis=0)
    way = np.abs(np.diff(position, axis=0)).sum(axis=0)
    by_way = way / np.maximum(2.0 * stroke, 1e-300)
    turns = [
        _turning_points(column, 0.1 * size)
        for column, size in zip(position.T, stroke, strict=True)
    ]
    count: Array = np.maximum(by_way, np.array(turns) / 2.0)
    return count


def _turning_points(position: Array, least: float) -> int:
    """Return the number of turning points with swings of at least `least` between them."""
    count, direction, extreme = 0, 0.0, float(position[0])
    for value in position.tolist():
        ahead = (value - extreme) * direction
        if direction == 0.0 and abs(value - extreme) > least:
            direction, extreme = float(np.sign(value - extreme)), value
        elif ahead > 0.0:
            extreme = value
        elif -ahead > least:
            count, direction, extreme = count + 1, -direction, value
    return count


class CyclesRule(Rule):
    """Penalty of joints that complete too few cycles; no motion is refused for it.

    The penalty is the distance from the highest frequency: by Rice's formula (Mathematical
    analysis of random noise, 1945), a signal with the root mean squares v of its velocity and a of
    its acceleration has on average a / (2 pi v) cycles per second.
    """

    def __init__(self, least: float, highest: float) -> None:
        """Store the smallest number of cycles, and the highest frequency of the motion in [Hz]."""
        self._least, self._highest = least, highest

    def excess(self, motion: Motion) -> Excess:
        """Return that nothing is broken: a smaller motion has no more cycles."""
        del motion
        return Excess()

    def penalty(self, states: States) -> tuple[float, States]:
        """Return the sum of the squared missing shares of the frequency, and its derivatives."""
        value, slopes = super().penalty(states)
        velocity, acceleration = (np.square(item).mean(axis=0) for item in states[1:])
        short = (count_cycles(states[0]) < self._least) & (velocity > 0.0) & (acceleration > 0.0)
        velocity, acceleration = (np.where(short, v, 1.0) for v in (velocity, acceleration))
        share = np.sqrt(acceleration / velocity) / (2.0 * np.pi * self._highest)
        missing = np.where(short, np.maximum(0.0, 1.0 - share), 0.0)
        factor = 2.0 * missing * share / len(states[0])
        slopes[1][...] = factor * states[1] / velocity
        slopes[2][...] = -factor * states[2] / acceleration
        return value + float(np.square(missing).sum()), slopes
