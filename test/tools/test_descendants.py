# SPDX-License-Identifier: Apache-2.0
"""A command leaves no process, whatever ends first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.common import ROOT
from tools.descendants import descendants, run


def python(code: str) -> list[str]:
    return [sys.executable, '-c', code]


def test_what_a_command_leaves_behind_ends_with_it(tmp_path) -> None:
    """A process in a session of its own, whose parent has ended."""
    mark = tmp_path / 'mark'
    code = 'import subprocess; process = subprocess.Popen(["sleep", "60"], start_new_session=True)'
    assert run(python(f'{code}; open({str(mark)!r}, "w").write(str(process.pid))'), ROOT) == 0
    assert not Path(f'/proc/{mark.read_text()}').exists()
    assert run(python('raise SystemExit(3)'), ROOT) == 3


def test_a_parent_that_is_killed_ends_the_tests() -> None:
    parent = subprocess.Popen(
        python(
            'import subprocess, sys; print(subprocess.Popen([sys.executable, "-m", '
            '"tools.descendants", "sleep", "60"]).pid, flush=True); input()'
        ),
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert parent.stdout is not None
    runner = int(parent.stdout.readline())
    while not (started := descendants(runner)):
        os.kill(runner, 0)
    parent.kill()
    parent.wait()
    for each in [runner, *started]:
        while Path(f'/proc/{each}').exists():
            if Path(f'/proc/{each}/stat').read_text().rpartition(')')[2].split()[0] == 'Z':
                break  # ended: this machine's first process reaps it
