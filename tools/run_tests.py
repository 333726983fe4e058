# SPDX-License-Identifier: Apache-2.0
"""Run all tests: those with real clocks, and all others at low priority.

Tests of nodes and demonstrations mostly wait for robots that move in real time; all other tests
compute meanwhile. A failed test runs once more at the end, without other tests: failures of a busy
machine do not occur again, faults do.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tools.common import ROOT, note, one_line_errors

REAL = (
    'test/cli/demo/test_story.py',
    'test/docs/test_tool_files_in_a_demo.py',
    'test/nodes',
)
"""Tests with real clocks, the longest first."""
PYTEST = (sys.executable, '-m', 'pytest', '--dist', 'loadfile', '--no-loadscope-reorder')
CLOCKED = (*PYTEST, '-n', '3', *REAL)
"""Three processes on two cores, because two of them usually wait."""
OTHERS = ('nice', '-n', '10', *PYTEST, '-n', '2', *(f'--ignore={path}' for path in REAL))
FAILED = 1
"""Exit code of pytest for failed tests; higher ones mean that pytest could not run."""


def run_tests(real: Sequence[str] = CLOCKED, others: Sequence[str] = OTHERS) -> int:
    """Run two commands in parallel, repeat failed tests, and return 0 on success.

    :param real: pytest command with output while it runs
    :param others: pytest command with output at the end
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        commands = [
            [*command, '-o', f'cache_dir={folder / name}']
            for name, command in (('real', real), ('others', others))
        ]
        output = stack.enter_context((folder / 'output').open('w+b'))
        parallel = subprocess.Popen(commands[1], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            note('tests of nodes and demonstrations; all others run in parallel')
            codes = [subprocess.run(commands[0], cwd=ROOT, check=False).returncode]
            note('all other tests')
            codes.append(parallel.wait())
        finally:
            parallel.terminate()
            parallel.wait()
            output.seek(0)
            print(output.read().decode(errors='replace'), flush=True)
        return max(_again(command, code) for command, code in zip(commands, codes, strict=True))


def _again(command: Sequence[str], code: int) -> int:
    """Repeat failed tests without others, and return the final exit code."""
    if code != FAILED:
        return code
    note('failed tests are repeated without others; see above for the failures')
    alone = [*command, '-n', '0', '--last-failed', '--last-failed-no-failures', 'none']
    return subprocess.run(alone, cwd=ROOT, check=False).returncode


if __name__ == '__main__':
    with one_line_errors():
        sys.exit(run_tests())
