# SPDX-License-Identifier: Apache-2.0
"""Recognition of signal columns by their usual names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.storage import blockwise
from robodyn_ros.recording.tables.example import ACTUAL, COMMANDED, words_of
from robodyn_ros.recording.tables.table import Table
from robodyn_ros.recording.tables.units import unit_of
from robodyn_ros.recording.topics.rename import rename_hint, rename_joints

Array = NDArray[np.float64]

MOTOR_SIDE = ('motor_position', 'motor_velocity')
SIGNALS = ('position', 'velocity', 'acceleration', 'torque', *MOTOR_SIDE, 'command')
_GOAL = 'goal|cmd|command(?:ed)?|des|desired|target|ref|reference|set|setpoint'
WORDS = {
    'position': 'q|pos|qpos|positions?|observation\\.state',
    'velocity': 'qd|dq|qdot|qvel|vel|velocity|velocities|observation\\.velocity',
    'acceleration': 'qdd|ddq|qddot|acc|accelerations?',
    'torque': 'tau|torques?|eff|efforts?|forces?|observation\\.(?:effort|torque)',
    'motor_position': 'motor_(?:q|pos|positions?)',
    'motor_velocity': 'motor_(?:qd|dq|qdot|vel|velocity|velocities)',
    'command': f'action|goals?|commands?|(?:{_GOAL})_(?:q|pos|positions?)|'
    f'(?:q|pos|positions?)_(?:{_GOAL})',
}
FRANKA = re.compile(r'(?:.*[/.])?tau_J(?:[_\[.]?\d+\]?)?', re.IGNORECASE)
NEEDED = ('position', 'torque')


@dataclass(frozen=True)
class Part:
    """Columns of one signal: one matrix, or single columns."""

    table: Table
    columns: tuple[str, ...]
    joints: tuple[str, ...] | None = None
    suffixed: bool = False

    def rename(self, rules: Sequence[str]) -> Part:
        """Return the same with the joints renamed, see `rename_joints`."""
        return replace(self, joints=self.joints and rename_joints(self.joints, rules))

    def width(self, samples: int) -> int:
        """Return the number of joints of the columns."""
        if len(self.columns) > 1:
            return len(self.columns)
        return int(self._matrix(self.columns[0], samples).shape[1])

    def _matrix(self, name: str, samples: int) -> Array:
        values = self.table.column(name, 'a signal')
        if values.ndim == 2 and values.shape[0] != samples and values.shape[1] == samples:
            values = values.T
        if values.ndim == 1:
            values = values[:, None]
        if values.ndim != 2 or len(values) != samples:
            raise RecordingError(
                f'{self.table.source}: {name!r} must have {samples} rows as time has, '
                f'its shape is {values.shape}'
            )
        return values

    def units(self, wanted: tuple[str, ...], names: tuple[str, ...] | None) -> list[str | None]:
        """Return the units of the header for the wanted joints."""
        units = [self.table.unit(name) for name in self.columns]
        strange = [unit for unit in units if unit and not unit_of(unit)]
        if 1 < len(strange) == len({*strange}):  # names of joints in brackets
            units = [None if unit in strange else unit for unit in units]
        if len(units) == 1:
            return units * len(wanted)
        named = dict(zip(self.joints or names or wanted, units, strict=True))
        return [named[name] for name in wanted]

    def values(
        self,
        wanted: tuple[str, ...],
        names: tuple[str, ...] | None,
        samples: int,
        signal: str,
    ) -> Array:
        """Return the signal of the wanted joints, shape (N, n)."""
        have = self.joints or names or wanted
        parts = [self._matrix(name, samples) for name in self.columns]
        if sum(part.shape[1] for part in parts) != len(have):
            width = sum(part.shape[1] for part in parts)
            text = f'{signal} has {width} columns for {len(have)} joints ({list(have)})'
            raise self.table.error(text, signal=signal)
        missing = [name for name in wanted if name not in have]
        if missing:
            text = f'joint {missing[0]!r} has no {signal}, only of {list(have)}'
            text += rename_hint(wanted, have)
            if len(parts) != len(wanted):
                raise RecordingError(f'{self.table.source}: {text}')
            raise self.table.error(text, {signal: self.columns}, joints=wanted)
        if len(parts) == 1 and tuple(have) == wanted:
            return parts[0]
        places = [have.index(name) for name in wanted]
        kind = np.result_type(*parts)
        return blockwise(lambda *rows: np.hstack(rows)[:, places], *parts, dtype=kind)


class _Patterns(NamedTuple):
    """Names of the columns of one signal."""

    exact: re.Pattern[str]
    numbered: re.Pattern[str]
    before: re.Pattern[str]
    behind: re.Pattern[str]
    suffixed: re.Pattern[str]


@cache
def _patterns(words: str) -> _Patterns:
    texts = (
        rf'(?:{words})',
        rf'(.*[/.]|(?:actual|measured|joint)_|)(?:{words})(?:_?(?:act|actual|meas|fb)_?)?[_\[.]?(\d*)\]?',
        rf'(?:{words})[_./:](.+)',
        rf'(?:.*/)?([^/]+)[/.](?:{words})',
        rf'\W*(.+)_(?:{words})',
    )
    return _Patterns(*(re.compile(text, re.IGNORECASE) for text in texts))


def by_known_names(table: Table, signal: str, position: Part | None) -> Part | None:
    """Recognise the columns of a signal by their usual names.

    :raises RecordingError: several columns match, or torque has another topic than position
    """
    names, franka = list(table.short), []
    if signal == 'torque':  # tau_J1 is a numbered tau_J, unless there is a joint J1
        joints = (position.joints if position else None) or table.joints or ()
        franka = [name for name in names if FRANKA.fullmatch(name) and name[4:] not in joints]
        names = [name for name in names if name not in franka]
    part = _recognise(table, names, signal, WORDS[signal], position)
    part = part or _recognise(table, franka, signal, 'tau_J', position)
    if part is None and signal == 'torque':
        others = _group_by_topic(table, names, WORDS[signal])
        others |= _group_by_topic(table, franka, 'tau_J')
        if others:
            topic = min(others)
            known = {'torque': others[topic], 'position': position.columns if position else ()}
            text = f'torque has only columns of {sorted(others)}, which is not where position is'
            raise table.error(text, known)
    return part


def _recognise(
    table: Table, names: list[str], signal: str, words: str, position: Part | None
) -> Part | None:
    """Recognise plain names first; names with a topic must have the topic of position."""
    numbers = _group_by_topic(table, names, words)
    topic = _topic(position)
    if topic and topic in numbers:
        return Part(table, numbers[topic])
    exact = [name for name in names if _patterns(words).exact.fullmatch(name)]
    if len(exact) > 1:
        raise _several(table, exact, signal)
    if exact:
        return Part(table, (exact[0],))
    if '' in numbers:
        return Part(table, numbers[''])
    single = [name for name in names if table.columns[table.short[name]].ndim == 1]
    if joints := _group_by_joint(table, single, signal, words, position):
        return Part(table, tuple(joints.values()), tuple(joints))
    if signal == 'position' and numbers:
        if len(numbers) > 1:
            raise _several(table, sorted(numbers), signal, numbers[min(numbers)])
        return Part(table, next(iter(numbers.values())))
    if signal != 'position' and not (position and position.suffixed):
        return None
    joints = _group_by_joint(table, single, signal, words, position, suffixed=True)
    return Part(table, tuple(joints.values()), tuple(joints), suffixed=True) if joints else None


def _several(
    table: Table, which: Sequence[str], signal: str, columns: Sequence[str] = ()
) -> RecordingError:
    """Return the error; `columns`: those of the first candidate, if it is more than one column."""
    return table.error(f'{list(which)} could all be {signal}', {signal: columns or which[:1]})


def _group_by_topic(table: Table, names: list[str], words: str) -> dict[str, tuple[str, ...]]:
    """Return numbered columns by topic or prefix, in the order of their numbers; or a matrix."""
    groups: dict[str, dict[str, int]] = {}
    for name in names:
        match = _patterns(words).numbered.fullmatch(name)
        if match and (match[2] or table.columns[table.short[name]].ndim == 2):
            groups.setdefault(match[1], {})[name] = int(match[2] or -1)
    ordered = {topic: sorted(those, key=those.__getitem__) for topic, those in groups.items()}
    return {
        topic: tuple(those[:1] if groups[topic][those[0]] < 0 else those)
        for topic, those in ordered.items()
    }


def _topic(position: Part | None) -> str:
    """Return the topic or prefix of numbered position columns."""
    match = position and _patterns(WORDS['position']).numbered.fullmatch(position.columns[0])
    return match[1] if match else ''


def _group_by_joint(
    table: Table,
    names: list[str],
    signal: str,
    words: str,
    position: Part | None,
    *,
    suffixed: bool = False,
) -> dict[str, str]:
    """Return columns by the joint in their names; of several topics, that of position.

    :param suffixed: names are NAME_signal, of joints whose position has such a name
    """
    _, _, before, behind, suffix = _patterns(words)
    known = position.joints if suffixed and position else None
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        match = before.fullmatch(name) or behind.fullmatch(name)
        match = suffix.fullmatch(name) if suffixed else match
        if match and not _is_kind(match[1]) and (known is None or match[1] in known):
            groups.setdefault(match[1], {})[name] = name[: match.start(1)] * (match.re is behind)
    topics = _topics(position)
    chosen = {}
    for joint, columns in groups.items():
        same = [name for name in columns if columns[name] == topics.get(joint)]
        same = same or [name for name in columns if not columns[name]]
        if not same and (signal in NEEDED or not topics):
            same = list(columns)
        if len(same) > 1 and (joint in topics or not topics):
            if signal in NEEDED:
                like = same[0].replace(joint, '#')
                every = [n for its, c in groups.items() for n in c if n.replace(its, '#') == like]
                raise _several(table, same, signal, every)
            return {}
        if same:
            chosen[joint] = same[0]
    if signal not in NEEDED and topics:  # an optional signal: use it for all joints or not at all
        return chosen if topics.keys() & groups.keys() <= chosen.keys() else {}
    return chosen


def _is_kind(joint: str) -> bool:
    """Return True for what is no joint: act and des of q_act and q_des, ref of q_ref_1."""
    return {*words_of(joint)} <= {*ACTUAL, *COMMANDED} and bool(words_of(joint))


def _topics(position: Part | None) -> dict[str, str]:
    """Return the topics of named position columns by joint; '' without a topic."""
    if position is None or not position.joints:
        return {}
    pattern = _patterns(WORDS['position']).behind
    matches = [pattern.fullmatch(name) for name in position.columns]
    return {
        joint: match[0][: match.start(1)] if match else ''
        for joint, match in zip(position.joints, matches, strict=True)
    }
