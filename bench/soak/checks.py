"""Requirements on every message of a soak, and its latencies."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from math import isfinite
from typing import Any

import numpy as np
from faulty_cell import LIMIT, OK
from numpy.typing import NDArray

Array = NDArray[np.float64]
USABLE = 1e100
"""Numbers beyond it are no measurement, whatever the unit."""
REMEMBERED = 10.0
"""Time for which stamps are kept, to compare answers with them, in [s]."""
STALE = 0.05 + 0.025 + 0.05
"""Age of joint states with which no level may be OK, in [s]: stale_timeout, the period of the
monitor's watchdog, and the time that a busy machine may let it wait."""
FROZEN = 0.2 + 0.1
"""The same for values that do not change: frozen_timeout, and the wait."""


class Checks:
    """Violations, and latencies; rows come in the order of their topic.

    :ivar wrong: kind of violation -> its first examples; `counts`: how many there were
    :ivar watching: False at the start, when not all topics are heard yet
    :ivar stale: times of levels with OK before which the soak heard no joint state; a new cell is
        known to the monitor or the recorder earlier, so the recordings decide
    :ivar latency: name -> latencies in [s]; 'quiet ...' of the time without faults
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self.step = LIMIT / 0.05 * period
        self.counts: Counter[str] = Counter()
        self.wrong: dict[str, list[str]] = {}
        self.latency: dict[str, array[float]] = {}
        self.quiet = self.watching = False
        self.heard: Counter[int] = Counter()
        self.totals: Counter[str] = Counter()
        self.stale: list[float] = []
        self._references: dict[int, float] = {}
        self._states: dict[int, float] = {}
        self._state_times: list[float] = []
        self._spoilt: dict[int, float] = {}
        self._frozen: dict[int, float] = {}
        self._values = b''
        self._changed = 0
        self._command: Any = None

    def complain(self, kind: str, text: str) -> None:
        """Count a violation."""
        self.counts[kind] += 1
        self.wrong.setdefault(kind, [])
        if len(self.wrong[kind]) < 5:
            self.wrong[kind].append(text)

    def reference(self, row: Any) -> None:
        """Note when a reference was published."""
        self.totals['references'] += 1
        self._references[row.message] = row.time

    def joint_state(self, row: Any) -> None:
        """Note when a joint state was published, and whether it can be used."""
        stamp, values, data = row.message
        self.totals['joint states'] += 1
        self.heard[int(row.time)] += 1
        self._states[stamp] = row.time
        self._state_times.append(row.time)
        if not all(-USABLE < value < USABLE for value in values):
            self._spoilt[stamp] = row.time
            return
        self._spoilt.pop(stamp, None)  # a stamp comes again after a fault of the clock
        self._frozen.pop(stamp, None)
        if data != self._values or stamp < self._changed:
            self._changed = stamp
        self._values = data
        if stamp - self._changed > FROZEN * 1e9:
            self._frozen[stamp] = row.time

    def level(self, row: Any) -> None:
        """Check a collision state: no OK from data that are stale or no numbers."""
        stamp, levels, errors = row.message
        self.totals['collision states'] += 1
        self._answer('monitor', self._states.get(stamp), row.time)
        if OK not in levels:
            return
        self.totals['collision states with OK'] += 1
        if not self.watching:
            return
        if not all(map(isfinite, errors)):
            self.complain('OK without a torque error', f'{errors} at {row.time:.3f}')
        if stamp in self._spoilt:
            self.complain('OK from numbers that are none', f'at {row.time:.3f}')
        if stamp in self._frozen:
            self.complain('OK from frozen joint states', f'at {row.time:.3f}')
        count = bisect_right(self._state_times, row.time)
        if not count:
            return
        if row.time - self._state_times[count - 1] > STALE:
            self.stale.append(row.time)

    def command(self, row: Any) -> None:
        """Check a torque command: finite, within its limit and its rate."""
        self.totals['torque commands'] += 1
        value, before = row.message, self._command
        if not np.isfinite(value).all():
            self.complain('torque that is not finite', f'{value} at {row.time:.3f}')
        elif (np.abs(value) > LIMIT).any():
            self.complain('torque beyond its limit', f'{value} at {row.time:.3f}')
        # another process counts from 1
        if before is not None and row.number > before.number:
            cycles = max(row.number - before.number, (row.time - before.time) / self.period)
            if (np.abs(value - before.message) > self.step * cycles * (1 + 1e-9)).any():
                self.complain('torque rate', f'{before.message} to {value} in {cycles:.2f} cycles')
        self._command = row

    def torque_state(self, row: Any) -> None:
        """Take the latency of a torque."""
        stamp = row.message
        self.totals['torque states'] += 1
        published = self._references.get(stamp)
        self._answer('feedforward', published, row.time)
        if published is not None:
            self._answer('cycle to torque', 1e-9 * stamp, row.time)

    def _answer(self, name: str, asked: float | None, answered: float) -> None:
        """Note a latency; answers of a watchdog belong to no message."""
        if asked is None:
            return
        for key in (name, f'quiet {name}') if self.quiet else (name,):
            self.latency.setdefault(key, array('f')).append(answered - asked)

    def forget(self, now: float) -> None:
        """Drop what is too old to be compared with; `now` in [s] of the system clock."""
        for notes in (self._references, self._states, self._spoilt, self._frozen):
            for stamp in [stamp for stamp, time in notes.items() if time < now - REMEMBERED]:
                del notes[stamp]
        del self._state_times[: bisect_right(self._state_times, now - REMEMBERED)]

    def percentiles(self) -> dict[str, list[float]]:
        """Return p50, p99 and max of each latency, in [ms], and their number."""
        return {
            name: [*(1e3 * np.percentile(values, (50, 99, 100))).tolist(), len(values)]
            for name, values in sorted(self.latency.items())
        }
