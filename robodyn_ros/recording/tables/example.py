# SPDX-License-Identifier: Apache-2.0
"""Errors about columns, with the lines of a column mapping that could solve them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError

Columns = Mapping[str, NDArray[Any]]

LIKELY = {
    'time': r'(?<![a-z])t(?![a-z])|time|stamp',
    'position': r'(?<![a-z])q(?![a-z])|pos|angle|enc',
    'torque': r'(?<![a-z])i(?![a-z])|tau|torque|eff|force|current|cur(?![a-z])',
}
"""Parts of names of columns, looser than those that a file is read by: for examples only."""
PLAIN_UNITS = {
    'time': {'ms': 'ms', 'us': 'us', 'ns': 'ns'},
    'position': {'deg': 'deg', 'degree': 'deg', 'degrees': 'deg', 'grad': 'deg', 'rad': 'rad'},
    'torque': {'nm': 'Nm', 'mnm': 'mNm'},
}
"""Units that may be the last word of a name, in lower case, with their names in a mapping."""
DERIVED = r'vel|acc|speed|ref|target|desired'
"""Parts of names that a measured position or torque does not have."""
NOTE = '# joints: [NAME, ...]  # of the robot, in the order of the columns above'

SPECIAL = ('true', 'false', 'yes', 'no', 'on', 'off', 'null')
"""Words that YAML does not read as text."""


def mapping_error(
    text: str,
    columns: Columns,
    known: Mapping[str, Sequence[str]] | None = None,
    *,
    signal: str = '',
) -> RecordingError:
    """Return an error with lines of a column mapping that could solve it.

    :param columns: those of the file, by name
    :param known: columns of some signals; all others are the most likely ones
    :param signal: a signal that needs a line, too
    """
    chosen = {name: list(which) for name, which in (known or {}).items()}
    order = list(dict.fromkeys((*LIKELY, *chosen, *([signal] if signal else []))))
    for name in order:
        if name not in chosen:
            chosen[name] = _likely(columns, name, chosen)
    lines = [f'{name}: {_yaml(name, chosen[name])}' for name in order if chosen[name]]
    return RecordingError(
        f'{text}; a file for --columns can say which columns these are (docs/recordings.md)',
        lines=lines if len(chosen['position']) < 2 else [*lines, NOTE],
    )


def _likely(columns: Columns, signal: str, chosen: Mapping[str, list[str]]) -> list[str]:
    """Return columns with similar names: likely ones, one for each joint if possible.

    Columns without a name or unit of the signal are returned only if no others are left.
    """
    known = chosen.get('position') or chosen.get('torque') or []
    joints = [] if signal == 'time' else known
    groups = _groups(
        columns, signal, joints, {name for names in chosen.values() for name in names}
    )

    def doubts(names: list[str]) -> tuple[bool, ...]:
        return (
            not _is_like(names[0], signal),
            len(names) != (len(joints) or len(names)),
        )

    ordered = sorted(groups, key=doubts)
    if len(ordered) > 1 and not _is_like(ordered[0][0], signal):
        ordered = []  # a position taken for a torque would give a model
    if not ordered:
        return ['COLUMN'] if signal in LIKELY else []
    return sorted(ordered[0], key=_numbers)[: len(joints) or None]


def _groups(
    columns: Columns, signal: str, joints: Sequence[str], taken: Collection[str]
) -> list[list[str]]:
    """Return the columns that a signal can have, those with similar names together.

    :param joints: columns of another signal
    :param taken: columns of all other signals
    """
    groups: dict[str, list[str]] = {}
    never = '' if signal not in LIKELY or signal == 'time' else DERIVED
    for name, values in columns.items():
        if name in taken or values.ndim not in (1, 2) or values.size < 2:
            continue
        if never and re.search(never, name, re.IGNORECASE):
            continue  # a velocity taken for a torque gives a model that fits, and is wrong
        if signal == 'time' and not _grows(values):
            continue
        if not _is_like(name, signal) and any(_is_like(name, other) for other in LIKELY):
            continue
        unit = _unit(name, signal)
        group = name if signal == 'time' else unit or _without_joint(name, joints)
        groups.setdefault(group, []).append(name)
    return [*groups.values()]


def _is_like(name: str, signal: str) -> bool:
    """Return True if a name has a word or unit of a signal."""
    pattern = LIKELY.get(signal, re.escape(signal))
    return bool(re.search(pattern, name, re.IGNORECASE) or _unit(name, signal))


def _unit(name: str, signal: str) -> str | None:
    """Return the unit of a signal that is the last word of a name; None: there is none."""
    last = (_words(name.replace('_', ' ')) or [''])[-1].lower()
    return PLAIN_UNITS.get(signal, {}).get(last)


def _without_joint(name: str, others: Sequence[str]) -> str:
    """Return the words of a name without numbers and without those that differ in others."""
    words: list[set[str]] = [{*_words(other)} for other in others]
    joints = {word for its in words for word in its if any(word not in every for every in words)}
    return ' '.join(re.sub(r'\d+', '#', word) for word in _words(name) if word not in joints)


def _words(name: str) -> list[str]:
    return re.findall(r'[^\W_]+', name)


def _grows(values: NDArray[Any]) -> bool:
    return values.ndim == 1 and values.dtype.kind in 'fiu' and bool(np.all(np.diff(values) > 0))


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r'\d+', name)]


def _yaml(signal: str, names: Sequence[str]) -> str:
    quoted = [name if _is_plain(name) else "'" + name.replace("'", "''") + "'" for name in names]
    written = quoted[0] if signal == 'time' else f'[{", ".join(quoted)}]'
    unit = _unit(names[0], signal)
    return f'{{columns: {written}, unit: {unit}}}' if unit else written


def _is_plain(name: str) -> bool:
    """Return True if YAML reads a name in a list as this text."""
    return bool(re.fullmatch(r'[A-Za-z_/][\w./-]*', name)) and name.lower() not in SPECIAL
