# SPDX-License-Identifier: Apache-2.0
"""Rules that rename the joints of a recording."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from robodyn_ros.errors import RecordingError


def rename_hint(wanted: Sequence[str], known: Iterable[str]) -> str:
    """Return the option that renames joints if only their prefix differs; '' if it does not."""
    known, first = set(known), wanted[0]
    if known >= set(wanted):
        return ''
    for name in sorted(known):
        start = name.removesuffix(first)
        if start != name and {f'{start}{each}' for each in wanted} <= known:
            return f"; only the prefix differs: --rename '{re.escape(start)}(.*)=\\1'"
        start = first.removesuffix(name)
        plain = {each.removeprefix(start) for each in wanted if each.startswith(start)}
        if start != first and len(plain) == len(wanted) and plain <= known:
            return f"; only the prefix differs: --rename '(.*)={start}\\1'"
    return ''


def rename_joints(names: Iterable[str], rules: Sequence[str]) -> tuple[str, ...]:
    """Return joint names after rules of the form PATTERN=NAME; a pattern is for a whole name.

    :raises RecordingError: a rule cannot be used, or two joints get the same name
    """
    result = list(names)
    for rule in rules:
        pattern, equals, name = rule.partition('=')
        try:
            result = [re.sub(rf'\A(?:{pattern})\Z', name, each) for each in result]
        except (re.error, IndexError) as error:
            raise RecordingError(f'--rename {rule}: {error}') from error
        if not equals:
            raise RecordingError(f"--rename {rule}: expected PATTERN=NAME, as 'left_(.*)=\\1'")
    if twice := [each for each in result if result.count(each) > 1]:
        raise RecordingError(f'--rename {" ".join(rules)}: two joints would be {twice[0]!r}')
    return tuple(result)
