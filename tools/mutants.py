# SPDX-License-Identifier: Apache-2.0
"""Share of random faults in a room that the room's tests notice.

    python tools/mutants.py ROOM [--sample N] [--seed S] [--tests FOLDER ...] [--budget SECONDS]

changes the sources in robodyn_ros/ROOM at N random places, one at a time and in a copy of the
checkout, and runs the tests that execute the changed statement (`tools/mutant_tests.py`). One run
with coverage of all tests in FOLDER (test/ROOM) finds them. Prints the share of mutants killed,
and each survivor. cosmic-ray, which makes the mutants, and coverage are installed in a folder of
their own at the first call.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

if not __package__:  # started as a file: the folder of the package `tools` is not on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from tools.common import ROOT, VENV, Problem, note, one_line_errors
from tools.mutant_tests import PACKAGE, Executed

if TYPE_CHECKING:
    from tools.mutation import Mutant

ENVIRONMENT = Path(tempfile.gettempdir()) / 'mutants_venv'
COSMIC_RAY = 'cosmic-ray==8.7.0'
COVERAGE = 'coverage==7.10.7'
COVERAGE_FOLDER = ENVIRONMENT / 'coverage'
"""Apart from cosmic-ray, so that tests can use coverage without the rest of that environment."""
AT_ONCE = 2
START_UP = 10.0
"""Time in [s] until the first test runs, on a busy machine."""
PATIENCE = 5
"""Longest run of the tests on a mutant, in times of the run on the unchanged source."""
BUDGET = 60.0
"""Duration in [s] of the tests outside the mirrored file that run on a mutant."""
LINKED = ('.venv', 'build', 'install')
LEFT_OUT = (*LINKED, '.git', 'log', 'demo_output', '__pycache__', '.*_cache', '.hypothesis')
PYTEST = ('-m', 'pytest', '-q', '-p', 'no:cacheprovider')


class Scratch:
    """A copy of a checkout in which tests run on one changed source file at a time."""

    def __init__(self, root: Path, copy: Path, python: Path) -> None:
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for name in LINKED:
            (copy / name).symlink_to(root / name)
        self.copy, self._python = copy, python
        paths = os.environ.get('PYTHONPATH', '').split(os.pathsep)
        self._environment = {
            **os.environ,
            'PYTHONPATH': os.pathsep.join([str(copy), *(p for p in paths if p != str(root))]),
            'PYTHONDONTWRITEBYTECODE': '1',  # two mutants of one second look alike to the cache
        }

    def passes(self, tests: Sequence[str], timeout: float | None = None) -> bool:
        """Return True if the tests pass within a time in s; all that they started is ended."""
        return self._run([*PYTEST, '-x', *tests], {}, timeout) == 0

    def executed(self, room: str, tests: Sequence[str]) -> Executed:
        """Run tests, and return which of them execute each line of a room.

        :raises Problem: the tests do not run, or fail
        """
        file = self.copy / 'executed.json'
        lines = {'EXECUTED_LINES': f'{PACKAGE}/{room}:{file}'}
        path = os.pathsep.join([self._environment['PYTHONPATH'], str(COVERAGE_FOLDER)])
        command = [*PYTEST, '-p', 'tools.executed_lines', *tests]
        code = self._run(command, {**lines, 'PYTHONPATH': path}, None)
        if code or not file.exists():
            raise Problem(f'the unchanged tests in {" ".join(tests)} fail (exit code {code})')
        return Executed.read(file)

    def _run(
        self, arguments: Sequence[str], more: Mapping[str, str], timeout: float | None
    ) -> int | None:
        """Return the exit code of Python in the copy; None after a timeout."""
        process = subprocess.Popen(
            [str(self._python), *arguments],
            cwd=self.copy, env={**self._environment, **more}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def kills(self, mutant: Mutant, tests: Sequence[str], timeout: float) -> bool:
        """Return True if a test fails, or does not end, on a mutant."""
        source = self.copy / mutant.path
        text = source.read_text('utf-8')
        source.write_text(mutant.text, 'utf-8')
        try:
            return not self.passes(tests, timeout)
        finally:
            source.write_text(text, 'utf-8')


def survivors(
    found: Sequence[Mutant], executed: Executed, free: SimpleQueue[Scratch], budget: float
) -> list[Mutant]:
    """Return the mutants that no test kills; a statement that no test executes survives.

    :param free: copies in which one mutant at a time is tested
    :param budget: of `Executed.tests_of`
    """

    def survives(mutant: Mutant) -> bool:
        scratch = free.get()
        try:
            text = (scratch.copy / mutant.path).read_text('utf-8')
            tests = executed.tests_of(mutant.path, text, mutant.line, budget)
            patience = PATIENCE * (START_UP + executed.duration(tests))
            killed = bool(tests) and scratch.kills(mutant, tests, patience)
        finally:
            free.put(scratch)
        word = 'killed  ' if killed else 'SURVIVED' if tests else 'NOT RUN '
        note(f'{word} {mutant.path}:{mutant.line}')
        return not killed

    with ThreadPoolExecutor(AT_ONCE) as pool:
        alive = [*pool.map(survives, found)]
    return [each for each, survived in zip(found, alive, strict=True) if survived]


@contextmanager
def scratches(root: Path, python: Path) -> Iterator[SimpleQueue[Scratch]]:
    """Yield copies of a checkout, which are removed afterwards."""
    with tempfile.TemporaryDirectory(prefix='mutants_') as folder:
        free: SimpleQueue[Scratch] = SimpleQueue()
        for index in range(AT_ONCE):
            free.put(Scratch(root, Path(folder) / str(index), python))
        yield free


def _enter_environment() -> None:
    """Start again with the Python that has cosmic-ray, after installing it where it is missing."""
    if importlib.util.find_spec('cosmic_ray'):
        return
    python = ENVIRONMENT / 'bin' / 'python3'
    if not (ENVIRONMENT / 'bin' / 'cosmic-ray').exists():
        note(f'installing {COSMIC_RAY} and {COVERAGE} in {ENVIRONMENT}')
        subprocess.run([sys.executable, '-m', 'venv', str(ENVIRONMENT)], check=True)
        install = [str(python), '-m', 'pip', 'install', '-q']
        subprocess.run([*install, '--target', str(COVERAGE_FOLDER), COVERAGE], check=True)
        subprocess.run([*install, COSMIC_RAY], check=True)
    os.execv(python, [str(python), *sys.argv])


def main() -> None:
    """Print the share of killed mutants of a room, and the survivors."""
    parser = argparse.ArgumentParser(description='share of random faults that the tests notice')
    parser.add_argument('room', help='folder or file below robodyn_ros')
    parser.add_argument('--sample', type=int, default=60, help='number of mutants')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--tests', nargs='+', help='folders or files of tests; default: test/ROOM')
    parser.add_argument(
        '--budget', type=float, default=BUDGET,
        help='duration in s of the tests outside the mirrored file that run on a mutant',
    )  # fmt: skip
    given = parser.parse_args()
    folder = ROOT / PACKAGE / given.room
    sources = [folder] if folder.is_file() else sorted(folder.rglob('*.py'))
    if not sources:
        raise Problem(f'{folder} holds no Python file: give a room such as control')
    _enter_environment()
    from tools.mutation import mutants  # needs cosmic-ray

    found = mutants(ROOT, sources, given.sample, given.seed)
    with scratches(ROOT, VENV / 'bin' / 'python3') as free:
        scratch, start = free.get(), time.monotonic()
        executed = scratch.executed(given.room, given.tests or [f'test/{given.room}'])
        free.put(scratch)
        note(f'{len(executed.seconds)} tests pass in {time.monotonic() - start:.0f} s')
        alive = survivors(found, executed, free, given.budget)
    print(*alive, sep='\n')
    killed = len(found) - len(alive)
    note(f'{killed} of {len(found)} mutants killed ({killed / max(len(found), 1):.0%})')


if __name__ == '__main__':
    with one_line_errors():
        main()
