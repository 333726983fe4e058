# SPDX-License-Identifier: Apache-2.0
"""Plugin of pytest: which tests execute each line of a folder, and how long they take.

    EXECUTED_LINES=FOLDER:FILE python -m pytest -p tools.executed_lines TESTS

writes `{'lines': {source: {line: [test]}}, 'seconds': {test: seconds}}` as JSON. The set-up of a
test counts as part of it, so a fixture that several tests share belongs to the first of them.
Caches of the package's functions are emptied before each test, so that each user of a cached value
executes what makes it. Lines that run while a module is imported have the test ''.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER, FILE = map(Path, os.environ['EXECUTED_LINES'].split(':'))
CACHED = type(functools.cache(str))
SECONDS: dict[str, float] = {}
MEASURED = coverage.Coverage(source=[str(FOLDER)], data_file=None, config_file=False)
MEASURED.start()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Attribute the lines that run now to this test."""
    _empty_caches()
    MEASURED.switch_context(item.nodeid)
    yield
    MEASURED.switch_context('')


def _empty_caches() -> None:
    for name, module in [*sys.modules.items()]:
        if name.partition('.')[0] == FOLDER.parts[0]:
            for value in vars(module).values():
                if isinstance(value, CACHED):
                    value.cache_clear()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add the duration of a set-up, call or end."""
    SECONDS[report.nodeid] = SECONDS.get(report.nodeid, 0.0) + report.duration


def pytest_unconfigure() -> None:
    """Write the file."""
    MEASURED.stop()
    data = MEASURED.get_data()
    lines = {
        os.path.relpath(path): {
            line: sorted(tests) for line, tests in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    FILE.write_text(json.dumps({'lines': lines, 'seconds': SECONDS}), encoding='utf-8')
