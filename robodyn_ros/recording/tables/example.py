# SPDX-License-Identifier: Apache-2.0
"""Errors about columns, with the lines of a column mapping that could solve them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.units import NEEDS_SCALE, TIMES, UNITS, split_unit

Columns = Mapping[str, NDArray[Any]]

LIKELY = ('time', 'position', 'torque')
"""Signals that an example has always."""
WORDS = {
    'time': ('time', 'stamp', 'zeit', 't', *TIMES),
    'position': ('q', 'qpos', 'pos', 'position', 'positions', 'angle', 'angles', 'enc', 'encoder',
                 'theta', 'ist'),
    'velocity': ('qd', 'dq', 'qdot', 'qvel', 'vel', 'velocity', 'velocities', 'speed', 'omega'),
    'acceleration': ('qdd', 'ddq', 'qddot', 'acc', 'accel', 'acceleration', 'accelerations'),
    'torque': ('tau', 'tor', 'torque', 'torques', 'trq', 'eff', 'effort', 'efforts', 'moment',
               'force', 'forces', 'load'),
    'current': ('i', 'cur', 'curr', 'current', 'currents', 'iq', 'amp', 'amps', 'ampere',
                'strom'),
}  # fmt: skip
"""Words in names of columns, more than those that a file is read by: for examples only."""
GOALS = ('des', 'desired', 'ref', 'reference', 'target', 'cmd', 'command', 'commands', 'commanded',
         'set', 'setpoint', 'goal', 'goals', 'soll', 'demand', 'action', 'actions')  # fmt: skip
"""Words of commanded signals."""
COMMANDED = (*GOALS, 'error', 'err', 'ext', 'external', 'residual', 'gravity')
"""Words of signals that were not measured."""
ACTUAL = ('act', 'actual', 'meas', 'measured', 'fb', 'feedback', 'filt', 'filtered', 'raw')
"""Words of signals that were."""
SIDES = ('motor', 'joint', 'link')
SCALE = 'NM_PER_A'
PLACEHOLDERS = (SCALE, 'SCALE')
"""Stand for a number that only the user knows; a mapping with one is refused."""
NOTE = '# joints: [NAME, ...]  # of the robot, in the order of the columns above'

SPECIAL = ('true', 'false', 'yes', 'no', 'on', 'off', 'null')
"""Words that YAML does not read as text."""


def mapping_error(
    text: str,
    columns: Columns,
    known: Mapping[str, Sequence[str]] | None = None,
    *,
    signal: str = '',
    count: int = 0,
    joints: Sequence[str] = (),
    units: Mapping[str, str | None] | None = None,
) -> RecordingError:
    """Return an error with lines of a column mapping that could solve it.

    :param columns: those of the file, by name
    :param known: columns of some signals; all others are the most likely ones
    :param signal: a signal that needs a line, too
    :param count: number of joints; 0: unknown
    :param joints: names for the columns, if they are known
    :param units: of columns, also those that are not known; None: those in their names
    """
    units = units or {name: split_unit(name)[1] for name in columns}
    chosen = {name: list(which) for name, which in (known or {}).items()}
    order = list(dict.fromkeys((*LIKELY, *chosen, 'velocity', *([signal] if signal else []))))
    if signal == 'command':  # the torque is that of its error
        order.remove('torque')
    for name in order:
        if name not in chosen:
            chosen[name] = _likely(columns, name, chosen, count or len(joints), name == signal)
    if signal != 'torque' and chosen.get('torque') == ['COLUMN']:
        goal = _likely(columns, 'command', chosen, 0, True)
        if goal != ['COLUMN']:
            order[order.index('torque')], chosen['command'] = 'command', goal
    lines = [f'{name}: {_yaml(name, chosen[name], units)}' for name in order if chosen[name]]
    if joints:
        lines.append(f'joints: [{", ".join(map(_quote, joints))}]')
    return RecordingError(
        f'{text}; a file for --columns can say which columns these are: write these lines to '
        f'columns.yaml and add --columns columns.yaml (docs/recordings.md)',
        lines=lines if joints or len(chosen['position']) < 2 else [*lines, NOTE],
    )


def _likely(
    columns: Columns, signal: str, chosen: Mapping[str, list[str]], count: int, needed: bool
) -> list[str]:
    """Return the columns that are most likely a signal, one for each joint if possible."""
    position = chosen.get('position') or []
    taken = {name for names in chosen.values() for name in names}
    groups = _groups({n: v for n, v in columns.items() if n not in taken}, signal, position)
    if signal == 'command':
        return _likely_command(columns, groups, position)
    kinds = (signal, 'current') if signal == 'torque' else (signal,)
    like = [names for names in groups if _kind(names[0]) in kinds]
    if signal == 'time' and any(re.search('n(ano)?sec', name) for name in columns):
        return []  # it is recognised
    if signal == 'time' and not like:
        return [_any_time(columns)]
    if not like and signal in ('position', 'torque'):  # names without a usual word
        like = [names for names in groups if not _kind(names[0]) and not _is_goal(names[0])]
        like = like if len(like) == 1 else []  # a position taken for a torque would give a model
    width = sum(_width(columns[name]) for name in position if name in columns) or count

    def doubts(names: list[str]) -> tuple[int, ...]:
        commanded = any(word in COMMANDED for word in words_of(names[0]))
        other = bool(width) and sum(_width(columns[name]) for name in names) != width
        marks = {*_marks(names[0])} ^ {*_marks(position[0])} if position else ()
        motor = 'motor' in words_of(names[0])
        return commanded, motor, _kind(names[0]) == 'current', other, len(marks)

    best = min(like, key=doubts, default=None)
    if not needed and signal == 'velocity' and best and any(doubts(best)[:4]):
        return []
    if best is None:
        return ['COLUMN'] if signal in LIKELY else []
    return sorted(best, key=_numbers)[: 1 if signal == 'time' else len(position) or None]


def _likely_command(
    columns: Columns, groups: list[list[str]], position: Sequence[str]
) -> list[str]:
    """Return the columns that are most likely commanded positions, as many as positions."""
    like = [
        names for names in groups if _is_goal(names[0]) and _kind(names[0]) in ('', 'position')
    ]
    width = sum(_width(columns[name]) for name in position if name in columns)
    for names in like:
        best = sorted(names, key=_numbers)[: len(position) if len(names) > 1 else 1]
        if sum(_width(columns[name]) for name in best) == width:
            return best
    return ['COLUMN']


def _is_goal(name: str) -> bool:
    return not {*words_of(name)}.isdisjoint(GOALS)


def has_torque(columns: Columns) -> bool:
    """Return True if a column looks like torques or currents, measured or not."""
    groups = _groups(columns, 'torque', ())
    return any(_kind(names[0]) in ('torque', 'current') for names in groups)


def _groups(columns: Columns, signal: str, position: Sequence[str]) -> list[list[str]]:
    """Return the columns of numbers, those with similar names together: one for each joint."""
    groups: dict[Any, list[str]] = {}
    for name, values in columns.items():
        if (
            values.ndim not in (1, 2)
            or values.size < 2
            or (signal == 'time' and not is_growing(values))
        ):
            continue
        if signal == 'time' or values.ndim == 2 or re.fullmatch(r'column\d+', name):
            key: Any = name
        elif not _kind(name):
            key = _without_joint(name, position)
        else:
            plain = re.sub(r'\d+', '#', split_unit(name)[0])
            topic = name.split('/')[1] if name.startswith('/') else ''
            key = plain if '#' in plain.split('/')[-1] else (topic, _word(name), _marks(name))
        groups.setdefault(key, []).append(name)
    return [*groups.values()]


def _kind(name: str) -> str:
    """Return the signal that a name has a word or unit of, 'current', or ''."""
    word, unit = _word(name), split_unit(name)[1]
    if word or unit in ('A', 'mA'):
        return next((kind for kind, words in WORDS.items() if word in words), 'current')
    return next((kind for kind in (*LIKELY, 'velocity') if unit in UNITS[kind]), '')


def _word(name: str) -> str:
    """Return the last word of a name that is usual for a signal, or ''; time comes first."""
    words = words_of(split_unit(name)[0])
    usual = {word for words in WORDS.values() for word in words}
    times = [word for word in words if word in WORDS['time'] and word != 't']
    return next((word for word in (*times, *reversed(words)) if word in usual), '')


def _marks(name: str) -> tuple[str, ...]:
    """Return the words that tell signals of one joint apart: 'act' of posAct."""
    return tuple(word for word in words_of(name) if word in (*COMMANDED, *ACTUAL, *SIDES))


def _width(values: NDArray[Any]) -> int:
    return min(values.shape) if values.ndim == 2 else 1


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case, of posAct1 and pos_act_1 the same."""
    return [word.lower() for word in re.findall(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+', name)]


def _without_joint(name: str, others: Sequence[str]) -> str:
    """Return the words of a name without numbers and without those that differ in others."""
    words = [{*words_of(other)} for other in others]
    joints = {word for its in words for word in its if any(word not in every for every in words)}
    return ' '.join(word for word in words_of(name) if word not in joints)


def _any_time(columns: Columns) -> str:
    """Return the first column if it can be time; else the period has to be given."""
    name, values = next(iter(columns.items()), ('', np.zeros(0)))
    fractions = values.dtype.kind == 'f' and bool((values[:1000] % 1 != 0.0).any())
    return name if fractions and is_growing(values) else ''


def is_growing(values: NDArray[Any]) -> bool:
    """Return True for a column of numbers that increase, but for NaN."""
    if values.ndim != 1 or values.dtype.kind not in 'fiu':
        return False
    steps = np.diff(values[np.isfinite(values)].astype(np.float64))
    return bool(len(steps) and (steps > 0.0).all())


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r'\d+', name)]


def _yaml(signal: str, names: Sequence[str], units: Mapping[str, str | None]) -> str:
    if names[0] == '':
        return '{period: SECONDS}  # from row to row'
    quoted = [_quote(name) for name in names]
    written = quoted[0] if signal == 'time' else f'[{", ".join(quoted)}]'
    unit, known = units.get(names[0], split_unit(names[0])[1]), UNITS.get(signal, {})
    alike = all(units.get(name) == units.get(names[0]) for name in names)
    if unit and unit not in known:
        standard = next(iter(known), 'SI')
        return f'{{columns: {written}, unit: {standard}, scale: SCALE}}  # {standard} per {unit}'
    if signal == 'torque' and (unit in NEEDS_SCALE or _kind(names[0]) == 'current'):
        return f'{{columns: {written}, unit: {unit or "A"}, scale: {SCALE}}}  # Nm per A'
    return f'{{columns: {written}, unit: {unit}}}' if unit and alike else written


def _quote(name: str) -> str:
    """Return a name as YAML reads it as this text in a list."""
    if re.fullmatch(r'[A-Za-z_/][\w./-]*', name) and name.lower() not in SPECIAL:
        return name
    return "'" + name.replace("'", "''") + "'"
