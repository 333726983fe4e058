# SPDX-License-Identifier: Apache-2.0
"""Errors about columns, with the lines of a column mapping that could solve them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
DERIVED = r'vel|acc|speed|ref|target|desired'
"""Parts of names that a measured position or torque does not have."""

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
    return RecordingError(
        f'{text}; a file for --columns can say which columns these are (docs/recordings.md)',
        lines=[f'{name}: {_yaml(name, chosen[name])}' for name in order if chosen[name]],
    )


def _likely(columns: Columns, signal: str, chosen: Mapping[str, list[str]]) -> list[str]:
    """Return columns with similar names: likely ones, one for each joint if possible."""
    taken = {name for names in chosen.values() for name in names}
    known = chosen.get('position') or chosen.get('torque') or []
    joints = [] if signal == 'time' else known
    groups: dict[str, list[str]] = {}
    never = '' if signal not in LIKELY or signal == 'time' else DERIVED
    for name, values in columns.items():
        if never and re.search(never, name, re.IGNORECASE):
            continue  # a velocity taken for a torque gives a model that fits, and is wrong
        if name not in taken and values.ndim in (1, 2) and values.size > 1:
            group = name if signal == 'time' else _without_joint(name, joints)
            groups.setdefault(group, []).append(name)
    pattern = LIKELY.get(signal, re.escape(signal))

    def doubts(names: list[str]) -> tuple[bool, ...]:
        return (
            not re.search(pattern, names[0], re.IGNORECASE),
            signal == 'time' and not _grows(columns[names[0]]),
            len(names) != (len(joints) or len(names)),
        )

    ordered = sorted(groups.values(), key=doubts) or [['COLUMN'] if signal in LIKELY else []]
    return sorted(ordered[0], key=_numbers)[: len(joints) or None]


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
    return quoted[0] if signal == 'time' else f'[{", ".join(quoted)}]'


def _is_plain(name: str) -> bool:
    """Return True if YAML reads a name in a list as this text."""
    return bool(re.fullmatch(r'[A-Za-z_/][\w./-]*', name)) and name.lower() not in SPECIAL
