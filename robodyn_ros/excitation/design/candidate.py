# SPDX-License-Identifier: Apache-2.0
"""Result of a search: a motion that keeps every limit."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn_ros.excitation.trajectory import Trajectory


@dataclass(frozen=True)
class Candidate:
    """A motion that keeps every limit.

    :param repaired: smallest factor by which a joint was scaled down to keep the rules
    :param slow: sentence about a joint with too few cycles; '': there is none
    """

    value: float
    trajectory: Trajectory
    repaired: float
    broken: str
    slow: str = ''

    @property
    def note(self) -> str:
        """Report that the motion was scaled down, and why, and too few cycles; '': neither."""
        if self.repaired == 1.0:
            return self.slow
        text = f'joints were scaled down, to {self.repaired:.1%} at least: before, {self.broken}'
        return '; '.join(filter(None, (text, self.slow)))
