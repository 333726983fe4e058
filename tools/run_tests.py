"""Run all tests: those with real clocks, and at low priority beside them all others.

Tests of nodes and demonstrations wait most of the time, for real robots that move in real time.
The other tests compute in that time, and give way to them. A test that fails there is run once
more at the end, alone: what a busy machine did to it does not happen again, a fault does.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tools.common import ROOT, note, one_line_errors

REAL = ('test/cli/demo/test_story.py', 'test/nodes')
"""What has real clocks; the longest comes first."""
PYTEST = (sys.executable, '-m', 'pytest', '--dist', 'loadfile', '--no-loadscope-reorder')
CLOCKED = (*PYTEST, '-n', '3', *REAL)
"""Three at a time on two cores, as most of the time two of them wait."""
OTHERS = ('nice', '-n', '10', *PYTEST, '-n', '2', *(f'--ignore={path}' for path in REAL))
FAILED = 1
"""Exit code of pytest that says that tests failed, and not that it could not run them."""


def run_tests(real: Sequence[str] = CLOCKED, others: Sequence[str] = OTHERS) -> int:
    """Run two commands side by side, then what failed in them again, and return 0 on success.

    :param real: pytest; its output is shown while it runs
    :param others: pytest; its output is shown at the end
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        commands = [
            [*command, '-o', f'cache_dir={folder / name}']
            for name, command in (('real', real), ('others', others))
        ]
        output = stack.enter_context((folder / 'output').open('w+b'))
        beside = subprocess.Popen(commands[1], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            note('tests of nodes and demonstrations; those of everything else run beside them')
            codes = [subprocess.run(commands[0], cwd=ROOT, check=False).returncode]
            note('tests of everything else')
            codes.append(beside.wait())
        finally:
            beside.terminate()
            beside.wait()
            output.seek(0)
            print(output.read().decode(errors='replace'), flush=True)
        return max(_again(command, code) for command, code in zip(commands, codes, strict=True))


def _again(command: Sequence[str], code: int) -> int:
    """Run the tests that failed once more, alone, and return the exit code that counts."""
    if code != FAILED:
        return code
    note('tests that failed beside others are run again, alone: see above why they failed')
    alone = [*command, '-n', '0', '--last-failed', '--last-failed-no-failures', 'none']
    return subprocess.run(alone, cwd=ROOT, check=False).returncode


if __name__ == '__main__':
    with one_line_errors():
        sys.exit(run_tests())
