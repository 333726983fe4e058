# SPDX-License-Identifier: Apache-2.0
"""Both parts of the tests are run and shown, and each of them can fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tools.common import ROOT
from tools.run_tests import OTHERS, PYTEST, REAL, run_tests


def python(code: str) -> list[str]:
    return [sys.executable, '-c', code]


@pytest.mark.parametrize(('real', 'others', 'expected'), [(0, 0, 0), (1, 0, 1), (0, 2, 2)])
def test_one_failure_is_a_failure_and_all_is_shown(real, others, expected, capfd) -> None:
    code = 'import sys; print("part", sys.argv[1]); sys.exit(int(sys.argv[2]))'
    commands = [[*python(code), name, str(exit)] for name, exit in (('a', real), ('b', others))]
    assert run_tests(*commands) == expected
    output = capfd.readouterr().out
    assert 'part a' in output and 'part b' in output


@pytest.mark.parametrize(('recovers', 'expected'), [(True, 0), (False, 1)])
def test_what_failed_runs_once_more_alone(recovers, expected, tmp_path, capfd) -> None:
    (tmp_path / 'test_it.py').write_text(
        f'from pathlib import Path\nmark = Path({str(tmp_path / "mark")!r})\n'
        'def test_good():\n    with mark.open("a") as file: file.write("good ")\n'
        'def test_bad():\n    with mark.open("a") as file: file.write("bad ")\n'
        f'    assert {recovers} and mark.read_text().count("bad") == 2\n'
    )
    command = [*PYTEST, '-n', '2', str(tmp_path)]
    assert run_tests(command, python('pass')) == expected
    assert sorted((tmp_path / 'mark').read_text().split()) == ['bad', 'bad', 'good']
    assert 'are repeated without others' in capfd.readouterr().out


def test_no_test_is_in_neither_part() -> None:
    for path in REAL:
        assert (ROOT / path).exists() and f'--ignore={path}' in OTHERS


def test_an_interrupt_ends_both_parts() -> None:
    wait = 'import time; print({!r}, flush=True); time.sleep(60)'
    code = f'from tools.run_tests import run_tests; run_tests({python(wait.format("a"))!r}, '
    code += f'{python("import os; print(os.getpid(), flush=True);" + wait.format("b"))!r})'
    process = subprocess.Popen(
        python(code), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert process.stdout is not None
    while process.stdout.readline() != 'a\n':
        pass
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=30.0)
    assert process.returncode != 0
    for line in output.splitlines():
        if line.isdigit():
            with pytest.raises(ProcessLookupError):
                os.kill(int(line), 0)
