# SPDX-License-Identifier: Apache-2.0
"""Publishers of a topic, told apart by the joints, times and values of their messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.recording.storage import blockwise, sweep
from robodyn_ros.recording.topics.decoder import Group

VALUES = ('position', 'velocity', 'effort')
JUMP = 0.01
"""Smallest jump [rad or m] of a position from one message to the next one and back again that is
no motion."""
ALONE = 4
"""Messages with zeros, between those of a robot that moves, that another publisher sends."""
FEWEST = 16
"""Number of such places from which on there is another publisher."""
OFTEN = 0.05
"""Share of messages that jump from which on there is another publisher."""


@dataclass(eq=False)
class Publisher:
    """Messages of one publisher in the order of arrival.

    :param columns: `row`, `stamp` and `log`, shape (N,), and `VALUES`, shape (N, n), see `Group`
    :param measured: False: no message has an effort
    """

    names: tuple[str, ...]
    columns: dict[str, NDArray[Any]]
    measured: bool = True

    @property
    def count(self) -> int:
        """Number of messages."""
        return len(self.columns['row'])

    @property
    def time(self) -> NDArray[np.int64]:
        """Stamps of the messages; their time in the bag if all stamps are zero, in [ns]."""
        stamps = self.columns['stamp']
        return stamps if stamps.any() else self.columns['log']

    def select(self, names: Sequence[str]) -> Publisher:
        """Return the same with these joints only, in this order."""
        if tuple(names) == self.names:
            return self
        places = [self.names.index(name) for name in names]
        picked = {
            name: blockwise(lambda part: part[:, places], self.columns[name]) for name in VALUES
        }
        return replace(self, names=tuple(names), columns=self.columns | picked)

    def cut(self, rows: NDArray[np.bool_]) -> Publisher:
        """Return the same with some messages only, shape (N,)."""
        if rows.all():
            return self
        columns = {
            name: blockwise(lambda part, keep: part[keep], each, rows, dtype=each.dtype)
            for name, each in self.columns.items()
        }
        return replace(self, columns=columns)

    def join(self, other: Publisher) -> Publisher:
        """Return the messages of both, in the order of arrival."""
        more = other.select(self.names).columns
        columns = {name: np.concatenate([each, more[name]]) for name, each in self.columns.items()}
        order = np.argsort(columns['row'], kind='stable')
        return replace(self, columns={name: each[order] for name, each in columns.items()})


def publishers_of(groups: Sequence[Group]) -> list[Publisher]:
    """Return the publishers, those with most messages first.

    A publisher may change the order of its joints from message to message.
    """
    every: dict[tuple[frozenset[str], bool], list[Publisher]] = {}
    for group in groups:
        columns = {name: group.take(name) for name in ('row', 'stamp', 'log', *VALUES)}
        each = Publisher(group.names, columns, group.measured)
        every.setdefault((frozenset(group.names), group.measured), []).append(each)
    result: list[Publisher] = []
    for same in every.values():
        split = _split_alike(reduce(Publisher.join, same))
        by_order = len(same) == len(split) and all(each.measured for each in split)
        result += same if by_order else split
    return sorted(result, key=lambda each: -each.count)


def _split_alike(source: Publisher) -> list[Publisher]:
    """Split messages of two publishers that name the same joints.

    The positions of two robots jump from message to message. A publisher without efforts may fill
    in zeros: these messages have no effort.
    """
    if source.count < FEWEST:
        return [source]
    position, velocity, effort = (source.columns[name] for name in VALUES)
    other, zero = np.zeros((2, source.count), dtype=bool)
    for rows in sweep(position, velocity, effort, overlap=2):
        places = np.nan_to_num(position[rows])
        places = np.vstack([places[2:3], places, places[-3:-2]])  # of the ends, by those near them
        there = np.abs(places[1:-1] - places[:-2]).max(axis=1, initial=0.0)
        back = np.abs(places[2:] - places[:-2]).max(axis=1, initial=0.0)
        other[rows] = (there > JUMP) & (back < 0.2 * there)
        still = ~(np.abs(velocity[rows]) > 0.0).any(axis=1)
        zero[rows] = still & (effort[rows] == 0.0).all(axis=1)
    runs = int((zero[1:] & ~zero[:-1]).sum())
    if runs >= FEWEST and zero.sum() < ALONE * runs:  # else drives are off
        return [source.cut(~zero), replace(source.cut(zero), measured=False)]
    if other.mean() < OFTEN:
        return [source]
    second = _follow(source, max(1, int(np.argmax(other))))
    return [source.cut(~second), source.cut(second)]


def _follow(source: Publisher, jump: int) -> NDArray[np.bool_]:
    """Return which messages (N,) are of the second of two robots: those that continue its motion.

    :param jump: a message of the second robot, behind one of the first
    """
    time, position = source.time, np.nan_to_num(source.columns['position'])
    second = np.zeros(source.count, dtype=bool)
    second[jump] = True
    for rows in (range(jump + 1, source.count), range(jump - 2, -1, -1)):
        ends = [(jump - 1, jump - 1), (jump, jump)]
        for row in rows:
            errors = []
            for before, last in ends:
                step = time[last] - time[before]
                share = min(max((time[row] - time[last]) / step, 0.0), 3.0) if step else 0.0
                goes_on = position[last] + share * (position[last] - position[before])
                errors.append(np.abs(position[row] - goes_on).max())
            second[row] = nearer = int(errors[1] < errors[0])
            ends[nearer] = (ends[nearer][1], row)
    return second
