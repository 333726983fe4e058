# SPDX-License-Identifier: Apache-2.0
"""All tests run once, in one of two parts; each part can fail, and none leaves a process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.common import ROOT
from tools.descendants import descendants
from tools.run_tests import PYTEST, run_tests


def python(code: str) -> list[str]:
    return [sys.executable, '-c', code]


@pytest.mark.parametrize(('first', 'second', 'expected'), [(0, 0, 0), (1, 0, 1)])
def test_one_failure_is_a_failure_and_all_is_run(first, second, expected, capfd) -> None:
    code = 'import sys; print("part", sys.argv[1]); sys.exit(int(sys.argv[2]))'
    commands = [[*python(code), name, str(exit)] for name, exit in (('a', first), ('b', second))]
    assert run_tests(*commands) == expected
    output = capfd.readouterr().out
    assert 'part a' in output and 'part b' in output


def test_what_failed_is_not_run_again(tmp_path) -> None:
    (tmp_path / 'test_it.py').write_text(
        f'from pathlib import Path\nmark = Path({str(tmp_path / "mark")!r})\n'
        'def test_bad():\n    with mark.open("a") as file: file.write("bad ")\n'
        '    assert False\n'
    )
    assert run_tests([*PYTEST, '-n', '2', str(tmp_path)]) == 1
    assert (tmp_path / 'mark').read_text() == 'bad '


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGHUP])
def test_an_interrupt_leaves_no_process(number, tmp_path) -> None:
    """Workers of pytest, a process with a session of its own, and what it has started."""
    (tmp_path / 'test_it.py').write_text(
        'import subprocess, sys, time\n'
        'def test_it():\n'
        '    code = "import subprocess, sys, time; "\n'
        "    code += \"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\"\n"
        '    subprocess.Popen([sys.executable, "-c", f"{code}; time.sleep(60)"],\n'
        '                     start_new_session=True)\n'
        f'    open({str(tmp_path / "mark")!r}, "w")\n'
        '    time.sleep(60)\n'
    )
    command = [*PYTEST, '-n', '2', str(tmp_path)]
    process = subprocess.Popen(
        python(f'from tools.run_tests import run_tests; run_tests({command!r})'), cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    while not (tmp_path / 'mark').exists() or len(descendants(process.pid)) < 5:
        assert process.poll() is None, process.stdout.read()
    started = descendants(process.pid)
    process.send_signal(number)
    process.communicate(timeout=60.0)
    assert process.returncode != 0
    assert not [each for each in started if Path(f'/proc/{each}').exists()]
