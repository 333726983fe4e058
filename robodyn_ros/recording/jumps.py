"""Jumps of signals that no motion explains: bad samples, positions that wrap, moved zeros.

The steps of a signal from sample to sample form one group: a joint has a largest speed, and noise
a largest value. Steps that are `APART` times as large as all others do not belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.recording.finding import Finding
from robodyn_ros.recording.missing_values import MISSING_SHARE
from robodyn_ros.recording.storage import blockwise, sweep

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]
Numbers = NDArray[np.intp]

APART = 3.0
"""Ratio of a jump to the largest other step. The largest of a million normal values is 5 standard
deviations, and 15 occur never; a joint would change its speed by twice its largest one."""

LARGEST = 20_000
"""Steps of a joint that are looked at, the largest ones: memory is bounded, and an hour with five
turns a second is unwrapped."""

LONGEST = 3
"""Samples of a jump and its return. What lasts longer may be a contact."""

MATTERS = 0.01
"""Smallest move of a zero that is an error, in [rad] or [m]: gravity changes by up to 1 %."""

TURN = 2.0 * np.pi


@dataclass(frozen=True)
class Jumps:
    """Jumps of one signal of one joint, in the order of time.

    :param rows: last sample before each, shape (k,)
    :param sizes: shape (k,), in the signal's unit
    :param usual: largest other step
    """

    rows: Numbers
    sizes: Array
    usual: float

    def only(self, kept: Rows) -> Jumps:
        """Return some of the jumps."""
        return Jumps(self.rows[kept], self.sizes[kept], self.usual)

    def turns(self) -> Rows:
        """Return which are a whole turn, shape (k,)."""
        return np.asarray(np.abs(np.abs(self.sizes) - TURN) <= self.usual)

    def pairs(self) -> list[tuple[int, int]]:
        """Return first and last sample of each jump that returns within `LONGEST` samples."""
        near = (np.diff(self.rows) <= LONGEST) & (self.sizes[1:] * self.sizes[:-1] < 0.0)
        return [(self.rows[k] + 1, self.rows[k + 1]) for k in np.flatnonzero(near)]

    def alone(self) -> Rows:
        """Return which have no other jump within `LONGEST` samples, shape (k,)."""
        near = np.diff(self.rows) <= LONGEST
        return np.asarray(~(np.append(near, False) | np.append(False, near)))


def without_jumps(
    time: Array, joints: tuple[str, ...], signals: Mapping[str, Array]
) -> tuple[Array, Rows, tuple[Finding, ...]]:
    """Unwrap positions, find bad samples, and name moved zeros.

    :param time: stamps, shape (N,), in [s], increasing
    :param signals: by name, shape (N, n) each
    :return: positions (N, n), samples to leave out (N,), and the findings `wrapped_position`,
        `bad_samples` and `position_jump`
    """
    rows, findings = np.zeros(len(time), dtype=bool), []
    position = signals['position']
    found = {name: jumps(values) for name, values in signals.items()}
    turns = [each.only(each.turns()) for each in found['position']]
    found['position'] = [each.only(~each.turns()) for each in found['position']]
    for joint, each in zip(joints, turns, strict=True):
        if len(each.rows):
            text = f'position of joint {joint!r} jumps by a whole turn {len(each.rows)} times'
            findings.append(Finding('wrapped_position', f'{text}; unwrapped', joint, 'info'))
    for name, columns in found.items():
        for joint, each in zip(joints, columns, strict=True):
            findings += _bad_samples(f'{name.replace("_", " ")} of joint {joint!r}', joint, each,
                                     time, rows)  # fmt: skip
    for column, joint in enumerate(joints):
        findings += _moved_zero(joint, found['position'][column], time, position[:, column])
    return _unwrapped(position, turns), rows, tuple(findings)


def jumps(values: Array) -> list[Jumps]:
    """Return the jumps of each column of values (N, n)."""
    kept = [(np.zeros(0, dtype=np.intp), np.zeros(0)) for _ in range(values.shape[1])]
    for rows in sweep(values, overlap=1):
        steps = np.diff(values[rows], axis=0)
        for column, (known, sizes) in enumerate(kept):
            own, least = steps[:, column], 0.0
            if len(sizes) == LARGEST:
                least = float(np.abs(sizes).min())
            larger = np.flatnonzero(np.abs(own) > least)
            known, sizes = np.append(known, larger + rows.start), np.append(sizes, own[larger])
            if len(sizes) > LARGEST:
                best = np.argpartition(np.abs(sizes), -LARGEST)[-LARGEST:]
                known, sizes = known[best], sizes[best]
            kept[column] = known, sizes
    return [_apart(*each, int(MISSING_SHARE * len(values))) for each in kept]


def _apart(rows: Numbers, steps: Array, most: int) -> Jumps:
    """Return the steps, at most so many, that are far larger than all others."""
    order = np.argsort(-np.abs(steps))
    sizes = np.abs(steps[order])
    gaps = np.flatnonzero(sizes[:-1][:most] > APART * sizes[1:][:most])
    count = int(gaps[-1]) + 1 if len(gaps) else 0
    found = order[:count][np.argsort(rows[order[:count]])]
    return Jumps(rows[found], steps[found], float(sizes[count]) if count else 0.0)


def _bad_samples(
    signal: str, joint: str, found: Jumps, time: Array, rows: Rows
) -> Iterator[Finding]:
    """Mark samples (N,) at which a signal jumps and returns, and say so."""
    pairs = found.pairs()
    for first, last in pairs:
        rows[first : last + 1] = True
    if pairs:
        count = sum(last - first + 1 for first, last in pairs)
        yield Finding(
            'bad_samples',
            f'{signal}: {count} samples are off by up to {np.abs(found.sizes).max():.4g}, the '
            f'first at {time[pairs[0][0]]:.3f} s, while the largest other step is '
            f'{found.usual:.4g}; left out like a gap',
            joint,
        )


def _moved_zero(joint: str, found: Jumps, time: Array, position: Array) -> Iterator[Finding]:
    """Name the largest jump of a position (N,) that lasts.

    After a gap, or after repeated values, the joint may have moved.
    """
    period = float(np.median(np.diff(time)))
    before = np.maximum(found.rows - 1, 0)
    fresh = (time[found.rows + 1] - time[found.rows] < 1.8 * period) & (
        position[found.rows] != position[before]
    )
    lasting = found.only(found.alone() & fresh & (np.abs(found.sizes) > MATTERS))
    if len(lasting.rows):
        worst = int(np.argmax(np.abs(lasting.sizes)))
        yield Finding(
            'position_jump',
            f'position of joint {joint!r} jumps by {lasting.sizes[worst]:.4g} rad or m at '
            f'{time[lasting.rows[worst] + 1]:.3f} s, while the largest other step is '
            f'{found.usual:.4g}: samples are missing there, or the zero of its encoder was moved; '
            'record again, or cut the recording there',
            joint,
            'error',
        )


def _unwrapped(position: Array, turns: list[Jumps]) -> Array:
    """Return positions (N, n) without jumps of a whole turn."""
    if not any(len(each.rows) for each in turns):
        return position

    def change(part: Array, rows: Numbers) -> Array:
        counts = [
            np.append(0.0, np.cumsum(np.sign(each.sizes)))[np.searchsorted(each.rows, rows)]
            for each in turns
        ]
        return np.asarray(part - TURN * np.stack(counts, axis=1))

    return blockwise(change, position, np.arange(len(position)))
