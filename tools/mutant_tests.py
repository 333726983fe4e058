# SPDX-License-Identifier: Apache-2.0
"""Tests that can notice a changed line: those that execute it, found by one run with coverage."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = 'robodyn_ros'


@dataclass(frozen=True)
class Executed:
    """Tests by source and line, as `tools.executed_lines` writes them, and their durations."""

    lines: Mapping[str, Mapping[str, list[str]]]
    seconds: Mapping[str, float]

    @classmethod
    def read(cls, file: Path) -> Executed:
        """Read the file of a run."""
        return cls(**json.loads(file.read_text('utf-8')))

    def tests_of(self, source: Path, text: str, line: int, budget: float) -> list[str]:
        """Return the tests that execute a statement, in the order in which they are to run.

        Those of the mirrored file come first, and then that file as a whole. The others follow,
        the shortest first, as far as the budget reaches, and last the tests that execute anything
        of the source: only the first user of a shared fixture or of a cached value executes what
        makes it, and a statement that runs at import runs in no test.

        :param source: below the root
        :param text: content of the source
        :param line: number of a line of the statement, from 1 on
        :param budget: largest duration of the tests outside the mirrored file, in [s]
        :return: empty: no test executes the statement
        """
        lines = self.lines.get(str(source), {})
        found = {test for each in span(text, line) for test in lines.get(str(each), ())}
        users = {test for tests in lines.values() for test in tests} - {''}
        if not found or not users:
            return []
        mirror = str(mirrored(source))
        order = sorted(users, key=lambda test: (test not in found, self.seconds.get(test, 0.0)))
        inside = [test for test in order if test.partition('::')[0] == mirror]
        chosen = [*(test for test in inside if test in found), *([mirror] if inside else [])]
        for test in order:
            if test not in inside:
                budget -= self.seconds.get(test, 0.0)
                if budget >= 0.0:
                    chosen.append(test)
        return chosen

    def duration(self, tests: Iterable[str]) -> float:
        """Return how long tests or files of tests took on the unchanged source, in [s]."""
        return sum(
            seconds
            for each in tests
            for test, seconds in self.seconds.items()
            if each in (test, test.partition('::')[0])
        )


def mirrored(source: Path) -> Path:
    """Return the test file of a source file, below the root."""
    inside = source.relative_to(PACKAGE)
    return Path('test', inside.with_name(f'test_{inside.name}'))


def span(text: str, line: int) -> range:
    """Return the lines of the innermost statement at a line; of a compound one, its head."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(text)):  # an outer statement comes before its inner ones
        if isinstance(node, ast.stmt):
            body = getattr(node, 'body', None)
            end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            each = range(node.lineno, max(end, node.lineno + 1))
            if line in each:
                found = each
    return found
