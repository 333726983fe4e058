# SPDX-License-Identifier: Apache-2.0
"""Cycles of the law with all that may go wrong: nonsense, pauses, jumps and interference."""

from __future__ import annotations

from typing import Any

import numpy as np
from controller_law import RESET, START, STOP, Cycles, run_law

PERIOD, LIMIT, RATE, WINDOW, PAUSE = 0.002, 20.0, 300.0, 0.01, 0.02
ODD = (np.nan, np.inf, -np.inf, 1.7e308, 5e-324, -0.0, 1e154, -1e200)


class Nonsense:
    """Random cycles of `width` joints; `states` and `rest` are arguments of `run_law`."""

    def __init__(self, count: int, width: int, seed: int, ratio: Any = None) -> None:
        """Make them; `ratio`: of gears whose motors are measured, too."""
        self.random, self.count = np.random.default_rng(seed), count
        size = (count, width)
        wild = self._chance(0.1)[:, None]
        walk = np.cumsum(self._values(size) * np.where(wild, 3.0, 0.01), axis=0)
        q = (walk + 10.0) % 20.0 - 10.0
        qd = self._values(size) * np.where(wild, 1e4, 3.0) * (self.random.random(size) < 0.8)
        qdd = self._values(size) * np.where(wild, 1e6, 20.0)
        measured = q[self._holds(1e-3, 80)] + 0.01 * self._values(size)
        measured = measured[self._holds(1e-3, 80)]
        held = self._holds(3e-3, 80)
        q, qd, qdd, measured = (kind[held] for kind in (q, qd, qdd, measured))
        for kind in (q, qd, qdd, measured):
            self._spoil(kind, 1e-3)
        measured[self._holds(3e-4, 80) != np.arange(count), 0] = np.nan
        for kind in (q, qd, qdd):
            kind[self._chance(5e-3)] = np.nan
        missing = self._holds(3e-4, 20) != np.arange(count)
        q[missing], qd[missing], qdd[missing] = np.nan, np.nan, np.nan
        self.states = q, qd, qdd
        self.rest = {'measured': measured, **self._times(), **self._wishes()}
        self.rest['torque'] = self._values(size) * np.where(self._chance(1e-4), 90.0, 5.0)[:, None]
        if ratio is not None:
            motor = ratio * (np.clip(measured, -1e9, 1e9) + 0.02 * self._values(size))
            self._spoil(motor, 1e-4)
            motor[self._chance(0.01)] = np.nan
            self.rest['gears'] = 1.0, motor

    def _chance(self, probability: float) -> np.ndarray:
        return self.random.random(self.count) < probability

    def _values(self, size: tuple[int, int]) -> np.ndarray:
        return self.random.uniform(-1.0, 1.0, size)

    def _holds(self, probability: float, most: int) -> np.ndarray:
        """Return the cycle whose values each cycle has: now and then none are new for a while."""
        result = np.arange(self.count)
        for begin in np.flatnonzero(self._chance(probability)):
            result[begin : begin + self.random.integers(most)] = begin
        return result

    def _spoil(self, values: np.ndarray, probability: float) -> None:
        """Put any double there is into some rows."""
        for row in np.flatnonzero(self._chance(probability)):
            number = np.ldexp(self.random.uniform(-1.0, 1.0), self.random.integers(-1000, 1000))
            values[row, self.random.integers(values.shape[1])] = self.random.choice([*ODD, number])

    def _times(self) -> dict[str, np.ndarray]:
        longest = np.where(self._chance(0.5), 0.1, 3.0)
        pause = longest * self.random.random(self.count)
        elapsed = np.where(self._chance(1e-3), pause, PERIOD)
        passed = np.where(self._chance(1e-4), -PERIOD, elapsed)
        return {'elapsed': elapsed, 'time': np.cumsum(np.where(self._chance(1e-4), 0.5, passed))}

    def _wishes(self) -> dict[str, np.ndarray]:
        """Return what people and other programs do meanwhile."""
        changes = np.flatnonzero(self._chance(1e-3))
        scale = np.ones(self.count)
        for begin in changes:
            scale[begin:] = self.random.choice([self.random.random(), *ODD])
        mass = np.where(self._chance(1e-3), self.random.uniform(0.0, 9.0, self.count), np.nan)
        wish = self.random.choice([START, STOP], self.count) * self._chance(2e-3)
        return {'scale': scale, 'mass': mass, 'wish': np.where(self._chance(0.01), RESET, wish)}


def check_promise(path: Any, given: Nonsense, **options: Any) -> Cycles:
    """Run the law: what leaves is finite, within limit and rate."""
    out = run_law(
        path, given.states, **given.rest, window=WINDOW, limit=LIMIT, rate=RATE, threshold=60.0,
        **options,
    )  # fmt: skip
    assert np.isfinite(out.applied).all() and np.isfinite(out.position).all()
    assert (np.abs(out.applied) <= LIMIT).all()
    elapsed = given.rest['elapsed']
    longer = 1.0 + np.where(elapsed > PAUSE, elapsed / PERIOD, 0.0)  # the rate counts for a pause
    steps = np.abs(np.diff(out.applied, axis=0, prepend=0.0))
    assert (steps <= RATE * PERIOD * longer[:, None] * (1 + 1e-9)).all()
    assert (np.abs(out.applied) == LIMIT).any()
    return out
