# SPDX-License-Identifier: Apache-2.0
"""Delay against false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.interface import Array

RATES = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0)
"""False alarms per hour of the table."""
LOOK = 0.5
"""Time after the onset in which a contact can be found, in [s]."""


@dataclass(frozen=True)
class Curve:
    """Ratios of a method to its thresholds.

    :param healthy: largest ratio of each second without contact
    :param hours: of the healthy motion
    :param found: running maximum of the ratio after each contact, (contacts, samples)
    :param period: of the samples, in [s]
    """

    healthy: Array
    hours: float
    found: Array
    period: float

    @classmethod
    def of(
        cls, healthy: Sequence[Array], contacts: Sequence[tuple[Array, int]], period: float
    ) -> Curve:
        """Collect from series of ratios, and contacts as series and sample of the onset."""
        length = round(1.0 / period)
        seconds = [s[: len(s) // length * length].reshape(-1, length).max(axis=1) for s in healthy]
        window = round(LOOK / period)
        found = np.array([np.maximum.accumulate(s[k : k + window]) for s, k in contacts])
        hours = sum(len(each) for each in seconds) / 3600.0
        return cls(np.concatenate(seconds), hours, found, period)

    def scale(self, rate: float) -> float:
        """Return the factor of the thresholds that gives this rate of false alarms per hour."""
        count = int(rate * self.hours)
        return float(np.sort(self.healthy)[::-1][count])

    def at(self, scale: float, chosen: Array) -> tuple[float, float, float]:
        """Return false alarms per hour, share found within 100 ms, and median delay in [s].

        Contacts that are not found count as infinitely late.
        """
        alarms = float((self.healthy > scale).sum() / self.hours)
        over = self.found[chosen] > scale
        late = np.where(over.any(axis=1), (over.argmax(axis=1) + 1) * self.period, np.inf)
        return alarms, float((late <= 0.1 + 1e-9).mean()), float(np.median(late))
