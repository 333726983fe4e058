# SPDX-License-Identifier: Apache-2.0
"""Run all tests: those on the simulated clock in parallel, then those of real time alone."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence

from tools.common import ROOT, note, one_line_errors
from tools.descendants import Interrupted, run

PYTEST = (sys.executable, '-m', 'pytest', '--dist', 'loadfile', '--no-loadscope-reorder')
PARALLEL = (*PYTEST, '-n', '3', '--max-worker-restart', '0', '-m', 'not real_time', 'test')
"""Three processes on two cores, because tests of nodes wait for other processes.

After the crash of one the tests end: pytest-xdist would run its test again.
"""
ALONE = (*PYTEST, '-n', '0', '-m', 'real_time')
"""Tests that measure real time: other tests would be measured too."""
NO_TESTS = 5
"""Exit code of pytest if it has found no tests."""


def find_marked(mark: str) -> list[str]:
    """Return the test files that name a mark: to collect all others takes ten seconds."""
    files = sorted((ROOT / 'test').rglob('test_*.py'))
    return [str(file.relative_to(ROOT)) for file in files if f'mark.{mark}' in file.read_text()]


def run_tests(*commands: Sequence[str]) -> int:
    """Run pytest commands one after the other; return 0 on success."""
    codes = []
    with tempfile.TemporaryDirectory() as cache:
        for command in commands:
            note(' '.join(command[2:]))
            codes.append(run([*command, '-o', f'cache_dir={cache}'], ROOT))
    return max(0 if code == NO_TESTS else code for code in codes)


if __name__ == '__main__':
    with one_line_errors():
        try:
            sys.exit(run_tests(PARALLEL, [*ALONE, *find_marked('real_time')]))
        except Interrupted as interrupted:
            sys.exit(f'robodyn: the tests were interrupted by {interrupted}')
