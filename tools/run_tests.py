"""Run all tests: those with real clocks, and at low priority beside them all others.

Tests of nodes and demonstrations wait most of the time, for real robots that move in real time.
The other tests compute in that time, and give way to them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence

from tools.common import ROOT, note, one_line_errors

REAL = ('test/cli/demo/test_story.py', 'test/nodes')
"""What has real clocks; the longest comes first."""
SIDE_BY_SIDE = ('-n', '2', '--dist', 'loadfile', '--no-loadscope-reorder')
PYTEST = (sys.executable, '-m', 'pytest', *SIDE_BY_SIDE)
OTHERS = ('nice', '-n', '10', *PYTEST, *(f'--ignore={path}' for path in REAL))


def run_tests(real: Sequence[str] = (*PYTEST, *REAL), others: Sequence[str] = OTHERS) -> int:
    """Run two commands and return 0 if both succeed.

    :param real: its output is shown while it runs
    :param others: its output is shown at the end
    """
    with tempfile.TemporaryFile() as output:
        beside = subprocess.Popen(others, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            note('tests of nodes and demonstrations; those of everything else run beside them')
            code = subprocess.run(real, cwd=ROOT, check=False).returncode
            note('tests of everything else')
            code = beside.wait() or code
        finally:
            beside.terminate()
            beside.wait()
            output.seek(0)
            print(output.read().decode(errors='replace'), flush=True)
    return code


if __name__ == '__main__':
    with one_line_errors():
        sys.exit(run_tests())
