# SPDX-License-Identifier: Apache-2.0
"""Jumps of positions and torques that no motion explains.

The steps of a signal from sample to sample form one group: a joint has a largest speed, and noise
a largest value. A few steps that are `APART` times as large as all others do not belong to it: a
bad sample jumps and returns, and the zero of an encoder moves. A position may also wrap, by a
whole turn in one sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.stamps import GAP
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
"""Samples of a jump and its return. A longer one may be a contact."""

RARE = 0.01
"""Largest share of jumps: more of them are the signal, such as a joint that seldom moves."""

MATTERS = 0.01
"""Smallest move of a zero that is an error, in [rad] or [m]: gravity changes by up to 1 %."""

STARTED = 1.0 / 3.0
"""Share of the largest step by which positions change their step where a motion starts or ends:
torque that jumps and returns there accelerates the joint."""

TURN = 2.0 * np.pi


@dataclass(frozen=True)
class Steps:
    """Largest steps of one signal of one joint, or some of them, in the order of time.

    :param rows: last sample before each, shape (k,)
    :param sizes: shape (k,), in the signal's unit
    :param usual: largest step that is not among them
    """

    rows: Numbers
    sizes: Array
    usual: float = 0.0

    def only(self, kept: Rows, usual: float = 0.0) -> Steps:
        """Return some of the steps."""
        return Steps(self.rows[kept], self.sizes[kept], usual)

    def turns(self, count: int) -> Rows:
        """Return which are a whole turn, shape (k,), less what the joint moves in a sample."""
        size = np.abs(self.sizes)
        usual = self.only(size <= TURN / 2.0).jumps(count).usual  # bad samples have no say
        near = np.abs(size - TURN) <= usual
        # Positions in degrees have steps of any size.
        return np.asarray(near & ((1.0 + APART) * usual < TURN))

    def jumps(self, count: int) -> Steps:
        """Return the steps that are far larger than all others, of `count` samples."""
        size = -np.sort(-np.abs(self.sizes))
        most = int(RARE * count)
        gaps = np.flatnonzero(size[:-1][:most] > APART * size[1:][:most])
        usual = float(size[gaps[-1] + 1] if len(gaps) else size.max(initial=0.0))
        return self.only(np.abs(self.sizes) > usual, usual)

    def above(self, usual: float) -> Steps:
        """Return those that are far larger than a step."""
        return self.only(np.abs(self.sizes) > APART * usual, usual)

    def there_and_back(self) -> list[tuple[int, int]]:
        """Return first and last sample of each jump that returns within `LONGEST` samples."""
        near = (np.diff(self.rows) <= LONGEST) & (self.sizes[1:] * self.sizes[:-1] < 0.0)
        return [(int(self.rows[k]) + 1, int(self.rows[k + 1])) for k in np.flatnonzero(near)]

    def at_ends(self, count: int) -> list[tuple[int, int]]:
        """Return first and last sample of what lies beyond a jump near an end of the samples.

        Only of positions: torque jumps where a joint turns round.
        """
        alone = self.rows[self.alone()]
        start = [(0, int(row)) for row in alone if row < LONGEST]
        return start + [(int(row) + 1, count - 1) for row in alone if row >= count - 1 - LONGEST]

    def alone(self) -> Rows:
        """Return which have no other one within `LONGEST` samples, shape (k,)."""
        far = 2 * LONGEST
        after = np.diff(self.rows, append=self.rows[-1:] + far) > LONGEST
        before = np.diff(self.rows, prepend=self.rows[:1] - far) > LONGEST
        return np.asarray(before & after)


def without_jumps(
    time: Array, joints: tuple[str, ...], signals: Mapping[str, Array]
) -> tuple[Array, Rows, tuple[Finding, ...]]:
    """Unwrap positions, find bad samples of positions and torques, and name moved zeros.

    :param time: stamps, shape (N,), in [s], increasing
    :param signals: by name, shape (N, n) each
    :return: positions (N, n), samples to leave out (N,), and the findings `wrapped_position`,
        `bad_samples` and `position_jump`
    """
    rows, findings = np.zeros(len(time), dtype=bool), []
    position, steps = signals['position'], largest_steps(signals['position'])
    # In a gap a joint may have made any way.
    steps = [each.only(~_in_gap(time, each)) for each in steps]
    is_turn = [each.turns(len(time)) for each in steps]
    turns = [each.only(turn) for each, turn in zip(steps, is_turn, strict=True)]
    for joint, turn in zip(joints, turns, strict=True):
        if len(turn.rows):
            findings.append(finding('wrapped_position', joint, count=len(turn.rows)))
    moved = [each.only(~turn).jumps(len(time)) for each, turn in zip(steps, is_turn, strict=True)]
    # The steps of a joint at rest are small compared with those of the joints that move.
    usual = max((each.usual for each in moved), default=0.0)
    moved = [each.above(usual) for each in moved]
    torque = [each.jumps(len(time)) for each in largest_steps(signals['torque'])]
    for column, joint in enumerate(joints):
        each, bad = moved[column], moved[column].at_ends(len(time))
        findings += _mark_bad_samples('position', joint, each, bad, time, rows)
        findings += _report_moved_zero(joint, each, time, position[:, column])
        each = torque[column]
        each = each.only(~_starts(position, each, STARTED * usual), each.usual)
        findings += _mark_bad_samples('torque', joint, each, [], time, rows)
    return _unwrap(position, turns), rows, tuple(findings)


def largest_steps(values: Array) -> list[Steps]:
    """Return the largest steps of each column of values (N, n), at most `LARGEST`."""
    kept = [Steps(np.zeros(0, dtype=np.intp), np.zeros(0)) for _ in range(values.shape[1])]
    for rows in sweep(values, overlap=1):
        steps = np.diff(values[rows], axis=0)
        for column, known in enumerate(kept):
            full = len(known.rows) == LARGEST
            least = float(np.abs(known.sizes).min()) if full else 0.0
            larger = np.flatnonzero(np.abs(steps[:, column]) > least)
            longer = Steps(
                np.append(known.rows, larger + rows.start),
                np.append(known.sizes, steps[larger, column]),
            )
            if len(longer.rows) > LARGEST:
                best = np.argpartition(np.abs(longer.sizes), -LARGEST)[-LARGEST:]
                longer = replace(longer, rows=longer.rows[best], sizes=longer.sizes[best])
            kept[column] = longer
    order = [np.argsort(each.rows) for each in kept]
    return [Steps(s.rows[rows], s.sizes[rows]) for s, rows in zip(kept, order, strict=True)]


def _starts(position: Array, steps: Steps, least: float) -> Rows:
    """Return at which steps a position (N, n) changes its own step by more, shape (k,)."""
    ends = [steps.rows + shift for shift in (-LONGEST, 1 - LONGEST, LONGEST, LONGEST + 1)]
    a, b, c, d = (position[np.clip(rows, 0, len(position) - 1)] for rows in ends)
    return np.asarray((np.abs((d - c) - (b - a)) > least).any(axis=1))


def _in_gap(time: Array, steps: Steps) -> Rows:
    """Return which steps go over missing samples, shape (k,)."""
    return np.asarray(time[steps.rows + 1] - time[steps.rows] > GAP * np.median(np.diff(time)))


def _mark_bad_samples(
    name: str,
    joint: str,
    steps: Steps,
    others: list[tuple[int, int]],
    time: Array,
    rows: Rows,
) -> Iterator[Finding]:
    """Mark samples (N,) at which a signal jumps and returns, and others, and say so."""
    bad = sorted([*steps.there_and_back(), *others])
    if not bad or steps.usual == 0.0:
        return
    for first, last in bad:
        rows[first : last + 1] = True
    yield finding(
        'bad_samples',
        joint,
        signal=name,
        count=sum(last - first + 1 for first, last in bad),
        size=np.abs(steps.sizes).max(),
        start=time[bad[0][0]],
        usual=steps.usual,
    )


def _report_moved_zero(
    joint: str, steps: Steps, time: Array, position: Array
) -> Iterator[Finding]:
    """Name the largest jump of a position (N,) that lasts.

    After repeated values the joint may have moved.
    """
    fresh = position[steps.rows] != position[np.maximum(steps.rows - 1, 0)]
    inside = (steps.rows >= LONGEST) & (steps.rows < len(time) - 1 - LONGEST)
    lasting = steps.only(steps.alone() & fresh & inside & (np.abs(steps.sizes) > MATTERS))
    if len(lasting.rows):
        worst = int(np.argmax(np.abs(lasting.sizes)))
        yield finding(
            'position_jump',
            joint,
            size=lasting.sizes[worst],
            time=time[lasting.rows[worst] + 1],
            usual=steps.usual,
        )


def _unwrap(position: Array, turns: Sequence[Steps]) -> Array:
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
