# SPDX-License-Identifier: Apache-2.0
"""Names in the sources: functions are verbs, no name has a word of `WORDS`, classes are unique.

    python -m tools.names

prints one line for each other name and returns exit code 1 if there is one. Part of `make lint`.
Properties may have participles as names.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

if not __package__:  # run as a file: the parent of the package `tools` is not on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from tools.common import ROOT

WORDS = ('own', 'found', 'whole', 'told')
"""Words that say nothing about a value."""

PARTICIPLES = (
    'broken', 'built', 'chosen', 'drawn', 'found', 'frozen', 'given', 'held', 'hidden', 'kept',
    'known', 'left', 'lost', 'made', 'seen', 'sent', 'shown', 'taken', 'told', 'unknown',
    'written',
)  # fmt: skip
"""Participles that do not end in `ed`."""

VERBS = ('feed', 'need', 'embed', 'speed', 'exceed', 'seed')
"""Words that end in `ed` and are no participles."""

EXACT = ('rated_torque', 'closed_form_part', 'held_out')
"""Function names that are terms of the field."""

TWICE = ('Evidence', 'Inputs', 'Part', 'Watch')
"""Names of several classes today. One that has a single class must go."""


def main() -> int:
    """Print the names, and return the exit code."""
    package = ROOT / 'robodyn_ros'
    lines = [*problems(package), *find_shared_names(package, TWICE), *problems(ROOT / 'tools')]
    for line in lines:
        print(line, file=sys.stderr)
    return 1 if lines else 0


def problems(package: Path) -> list[str]:
    """Return a sentence for each wrong name."""
    return [
        f'{path}:{line}: {name}: {reason}'
        for path in sorted(package.rglob('*.py'))
        for line, name, reason in wrong_names(path.read_text())
    ]


def find_shared_names(package: Path, twice: tuple[str, ...]) -> list[str]:
    """Return a sentence for each name of several classes outside `twice`, and of one inside."""
    files: dict[str, list[str]] = {}
    for path in sorted(package.rglob('*.py')):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(str(path))
    several = {name for name, paths in files.items() if len(paths) > 1}
    return [
        f'class {name} is in {" and ".join(files[name])}: rename one'
        for name in sorted(several - {*twice})
    ] + [
        f'tools/names.py: {name} is one class: remove it from TWICE'
        for name in sorted({*twice} - several)
    ]


def wrong_names(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, name and reason of each definition of a wrong name in a source."""
    for node in ast.walk(ast.parse(text)):
        name, line = _name_of(node), getattr(node, 'lineno', 0)
        if _is_participle(node):
            yield line, name, 'name the function by a verb'
        elif word := next((word for word in _words(name) if word in WORDS), ''):
            yield line, name, f'"{word}" does not say what it is'


def _is_participle(node: ast.AST) -> bool:
    """Return True for a function, not a property, whose name starts with a participle."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    if any('property' in ast.unparse(each) for each in node.decorator_list):
        return False
    first = next(iter(_words(node.name)), '')
    ends = first.endswith('ed') and first not in VERBS
    return (ends or first in PARTICIPLES) and node.name.lstrip('_') not in EXACT


def _name_of(node: ast.AST) -> str:
    """Return the name that a node defines; '' for none."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    return ''


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case."""
    return [word.lower() for word in re.findall(r'[A-Z]?[a-z]+|[A-Z]+', name)]


if __name__ == '__main__':
    sys.exit(main())
