# SPDX-License-Identifier: Apache-2.0
"""Delay against false alarms."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array

RATES = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0)
"""False alarms per hour of the table."""
BLOCK = 5.0
"""Alarms within it are one false alarm, in [s]: an alarm is latched and stops the robot."""
LOOK = 0.5
"""Time after the onset in which a contact can be found, in [s]."""
SOON = 0.1
"""Time after the onset in which a contact has to be found, in [s]."""


@dataclass
class Curve:
    """Ratios of a method to its thresholds.

    :param period: of the samples, in [s]
    :param healthy: largest ratio of each block without contact, series by series
    :param found: running maximum of the ratio after each contact, shape (samples,)
    """

    period: float
    healthy: list[Array] = field(default_factory=list)
    found: list[Array] = field(default_factory=list)

    def add_healthy(self, ratio: Array) -> None:
        """Take a series without contact, shape (N,)."""
        length = round(BLOCK / self.period)
        whole = ratio[: len(ratio) // length * length]
        self.healthy.append(whole.reshape(-1, length).max(axis=1))

    def add_contact(self, ratio: Array, onset: int) -> None:
        """Take the series of a robot, and the sample at which a contact begins."""
        window = ratio[onset : onset + round(LOOK / self.period)]
        self.found.append(np.maximum.accumulate(window))

    @property
    def hours(self) -> float:
        """Healthy motion, in [h]."""
        return sum(len(each) for each in self.healthy) * BLOCK / 3600.0

    def scale(self, rate: float) -> float:
        """Return the factor of the thresholds that gives this rate of false alarms per hour."""
        count = int(rate * self.hours)
        return float(np.sort(np.concatenate(self.healthy))[::-1][count])

    def delays(self, scale: float) -> Array:
        """Return the delay of each contact, shape (contacts,), in [s]; infinite: not found."""
        over = np.array(self.found) > scale
        delay = (over.argmax(axis=1) + 1) * self.period
        return np.where(over.any(axis=1), delay, np.inf)

    def at(self, scale: float, chosen: NDArray[np.bool_]) -> tuple[float, float, float]:
        """Return false alarms per hour, share found within `SOON`, and median delay in [s].

        Contacts that are not found count as infinitely late.
        """
        alarms = float((np.concatenate(self.healthy) > scale).sum() / self.hours)
        delay = self.delays(scale)[chosen]
        return alarms, float((delay <= SOON + 1e-9).mean()), float(np.median(delay))
