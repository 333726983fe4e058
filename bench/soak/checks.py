# SPDX-License-Identifier: Apache-2.0
"""Requirements on every message of a soak, and its latencies."""

from __future__ import annotations

from array import array
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
STALE = 0.05 + 0.002
"""Step from one stamp of joint states to the next after which no level may be OK, in [s]:
stale_timeout and two periods. The monitor cannot know how long a message was on its way, or that
it stood still itself: so stamps decide, and not the times of sending."""
SETTLE = 0.1 - 0.002
"""Time by stamps after such a step in which no level may be OK, in [s]: settle_time less two
periods."""
FROZEN = 0.2 + 0.1
"""The same for values that do not change: frozen_timeout, and the wait."""


class Checks:
    """Violations, and latencies; rows come in the order of their topic.

    :ivar wrong: kind of violation -> its first examples; `counts`: how many there were
    :ivar watching: False at the start, when not all topics are heard yet
    :ivar lost: joint states that were published and not heard, as times of the last one before and
        the first one after them, and their number; nothing is decided from what follows them
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
        self.lost: list[tuple[float, float, int]] = []
        self._references: dict[int, float] = {}
        self._states: dict[int, float] = {}
        self._stale: dict[int, float] = {}
        self._number, self._sent = 0, 0.0
        self._stamp: int | None = None
        self._settled = 0.0
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
        self._follow(row)
        if not all(-USABLE < value < USABLE for value in values):
            self._spoilt[stamp] = row.time
            return
        self._spoilt.pop(stamp, None)  # a stamp comes again after a fault of the clock
        self._frozen.pop(stamp, None)
        self._note_step(stamp, row.time)
        if data != self._values or stamp < self._changed:
            self._changed = stamp
        self._values = data
        if stamp - self._changed > FROZEN * 1e9:
            self._frozen[stamp] = row.time

    def _follow(self, row: Any) -> None:
        """Note what was lost before a joint state: the monitor may have heard it."""
        first = row.number < self._number  # of another process
        missed = row.number - 1 - (0 if first else self._number)
        before, self._number, self._sent = self._sent, row.number, row.time
        if missed > 0:
            self._stamp, self._settled = None, 0.0
            if not first:  # who listens for a new process is not known to it at once
                self.lost.append((before, row.time, missed))

    def _note_step(self, stamp: int, time: float) -> None:
        """Note the stamps after a step that is too long, until the monitor has settled."""
        self._stale.pop(stamp, None)
        step = 0 if self._stamp is None else stamp - self._stamp
        if step > STALE * 1e9:
            self._settled = stamp + SETTLE * 1e9
        elif step < 0:  # the clock was set back, and with it the time to settle
            self._settled = stamp
        if stamp < self._settled:
            self._stale[stamp] = time
        self._stamp = stamp

    def level(self, row: Any) -> None:
        """Check a collision state: no OK from data that are stale or no numbers."""
        stamp, levels, errors = row.message
        self.totals['collision states'] += 1
        self._answer('monitor', self._states.get(stamp), row.time)
        if OK not in levels:
            return
        self.totals['collision states with OK'] += 1
        self.totals['of them to no joint state that was heard'] += stamp not in self._states
        if not self.watching:
            return
        if not all(map(isfinite, errors)):
            self.complain('OK without a torque error', f'{errors} at {row.time:.3f}')
        if stamp in self._spoilt:
            self.complain('OK from numbers that are none', f'at {row.time:.3f}')
        if stamp in self._frozen:
            self.complain('OK from frozen joint states', f'at {row.time:.3f}')
        if stamp in self._stale:
            self.complain('OK from stale joint states', f'at {row.time:.3f}')

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
        for notes in (self._references, self._states, self._spoilt, self._frozen, self._stale):
            for stamp in [stamp for stamp, time in notes.items() if time < now - REMEMBERED]:
                del notes[stamp]

    def percentiles(self) -> dict[str, list[float]]:
        """Return p50, p99 and max of each latency, in [ms], and their number."""
        return {
            name: [*(1e3 * np.percentile(values, (50, 99, 100))).tolist(), len(values)]
            for name, values in sorted(self.latency.items())
        }
