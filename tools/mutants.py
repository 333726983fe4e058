# SPDX-License-Identifier: Apache-2.0
"""Share of random faults in a room that the room's tests notice.

    python tools/mutants.py ROOM [--sample N] [--seed S] [--tests FOLDER ...]

changes the sources in robodyn_ros/ROOM at N random places, one at a time and in a copy of the
checkout. Each mutant runs first the test file of its source, then all tests in FOLDER (test/ROOM).
Prints the share of mutants killed, and each survivor. cosmic-ray, which makes the mutants, is
installed in an environment of its own at the first call.
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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

if not __package__:  # started as a file: the folder of the package `tools` is not on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from tools.common import ROOT, VENV, Problem, note, one_line_errors

if TYPE_CHECKING:
    from tools.mutation import Mutant

PACKAGE = 'robodyn_ros'
ENVIRONMENT = Path(tempfile.gettempdir()) / 'mutants_venv'
COSMIC_RAY = 'cosmic-ray==8.7.0'
AT_ONCE = 2
LINKED = ('.venv', 'build', 'install')
LEFT_OUT = (*LINKED, '.git', 'log', 'demo_output', '__pycache__', '.*_cache', '.hypothesis')
TIMEOUT = 60.0
"""Longest duration of a test in [s]: a mutant may never end."""


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

    def passes(self, *tests: str) -> bool:
        """Return True if the tests pass; all that they started is ended."""
        words = ('-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider', f'--timeout={TIMEOUT}')
        process = subprocess.Popen(
            [str(self._python), *words, *tests],
            cwd=self.copy, env=self._environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            return process.wait() == 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def kills(self, mutant: Mutant, tests: Sequence[str]) -> bool:
        """Return True if a test fails, or does not end, on a mutant."""
        source = self.copy / mutant.path
        text = source.read_text('utf-8')
        source.write_text(mutant.text, 'utf-8')
        inside = mutant.path.relative_to(PACKAGE)
        mirror = Path('test', inside.with_name(f'test_{inside.name}'))
        try:
            first = (self.copy / mirror).exists() and not self.passes(str(mirror))
            return first or not self.passes(*tests)
        finally:
            source.write_text(text, 'utf-8')


def survivors(
    mutants: Sequence[Mutant], tests: Sequence[str], free: SimpleQueue[Scratch]
) -> list[Mutant]:
    """Return the mutants that no test kills.

    :param free: copies in which one mutant at a time is tested
    """

    def survives(mutant: Mutant) -> bool:
        scratch = free.get()
        try:
            killed = scratch.kills(mutant, tests)
        finally:
            free.put(scratch)
        note(f'{"killed  " if killed else "SURVIVED"} {mutant.path}:{mutant.line}')
        return not killed

    with ThreadPoolExecutor(AT_ONCE) as pool:
        alive = [*pool.map(survives, mutants)]
    return [each for each, survived in zip(mutants, alive, strict=True) if survived]


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
        note(f'installing {COSMIC_RAY} in {ENVIRONMENT}')
        subprocess.run([sys.executable, '-m', 'venv', str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), '-m', 'pip', 'install', '-q', COSMIC_RAY], check=True)
    os.execv(python, [str(python), *sys.argv])


def main() -> None:
    """Print the share of killed mutants of a room, and the survivors."""
    parser = argparse.ArgumentParser(description='share of random faults that the tests notice')
    parser.add_argument('room', help='folder or file below robodyn_ros')
    parser.add_argument('--sample', type=int, default=60, help='number of mutants')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--tests', nargs='+', help='folders or files of tests; default: test/ROOM')
    given = parser.parse_args()
    folder = ROOT / PACKAGE / given.room
    sources = [folder] if folder.is_file() else sorted(folder.rglob('*.py'))
    if not sources:
        raise Problem(f'{folder} holds no Python file: give a room such as control')
    _enter_environment()
    from tools.mutation import draw_mutants  # needs cosmic-ray

    mutants = draw_mutants(ROOT, sources, given.sample, given.seed)
    tests = given.tests or [f'test/{given.room}']
    with scratches(ROOT, VENV / 'bin' / 'python3') as free:
        scratch = free.get()
        if not scratch.passes(*tests):
            raise Problem(f'the unchanged tests in {" ".join(tests)} fail')
        free.put(scratch)
        alive = survivors(mutants, tests, free)
    print(*alive, sep='\n')
    killed = len(mutants) - len(alive)
    note(f'{killed} of {len(mutants)} mutants killed ({killed / max(len(mutants), 1):.0%})')


if __name__ == '__main__':
    with one_line_errors():
        main()
