# SPDX-License-Identifier: Apache-2.0
"""Age of the data of one sender."""

from __future__ import annotations

import time
from collections.abc import Callable


class DataAge:
    """Time of the last data of a sender. Old data never count as valid."""

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without data.

        :param limit: age up to which data are valid, in [s]
        :param clock: steady time, in [s]
        """
        self._limit = limit
        self._clock = clock
        self._last: float | None = None

    def note_data(self) -> bool:
        """Note new data; return True if the data before were too old, or there were none."""
        back = not self.fresh
        self._last = self._clock()
        return back

    @property
    def age(self) -> float | None:
        """Time since the last data, in [s]; None: there were none."""
        return None if self._last is None else self._clock() - self._last

    @property
    def fresh(self) -> bool:
        """True if there are valid data."""
        age = self.age
        return age is not None and age <= self._limit

    def facts(self) -> dict[str, object]:
        """Return age and validity, for the page."""
        age = self.age
        return {'age': None if age is None else round(age, 2), 'fresh': self.fresh}
