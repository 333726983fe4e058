"""Share of random faults in a room that the room's tests notice.

    python tools/mutants.py ROOM [--sample N] [--seed S]

changes the sources in robodyn_ros/ROOM at N random places, one at a time and in a copy of the
checkout, and runs the tests of each changed module: the mirrored test file first, then the others
of test/ROOM that import the module. Prints the share of mutants killed, and each survivor.
cosmic-ray, which makes the mutants, is installed in a folder of its own at the first call.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
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
PATIENCE = 10
"""Longest run of the tests on a mutant, in times of the run on the unchanged source."""
LINKED = ('.venv', 'build', 'install')
LEFT_OUT = (*LINKED, '.git', 'log', 'demo_output', '__pycache__', '.*_cache', '.hypothesis')
PYTEST = ('-m', 'pytest', '-x', '-q', '-p', 'no:cacheprovider')


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

    def passes(self, tests: Sequence[Path], timeout: float | None = None) -> bool:
        """Return True if the tests pass within a time in s; all that they started is ended."""
        process = subprocess.Popen(
            [str(self._python), *PYTEST, *map(str, tests)],
            cwd=self.copy, env=self._environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            return process.wait(timeout) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def kills(self, mutant: Mutant, tests: Sequence[Path], timeout: float) -> bool:
        """Return True if a test fails, or does not end, on a mutant."""
        source = self.copy / mutant.path
        text = source.read_text('utf-8')
        source.write_text(mutant.text, 'utf-8')
        try:
            return not self.passes(tests, timeout)
        finally:
            source.write_text(text, 'utf-8')


def tests_of(root: Path, source: Path) -> list[Path]:
    """Return the tests of a source file, below the root: its mirror, then what imports it.

    :param source: below the root; without any such test, those of the mirrored folder are returned
    """
    inside = source.relative_to(PACKAGE)
    mirror = Path('test', inside.with_name(f'test_{inside.name}'))
    module = '.'.join(source.with_suffix('').parts).removesuffix('.__init__')
    tests = sorted(
        path.relative_to(root) for path in (root / 'test' / inside.parts[0]).rglob('test_*.py')
    )
    users = [path for path in tests if path != mirror and module in _imported(root / path)]
    folder = [path for path in tests if path.parent == mirror.parent]
    return [path for path in (mirror,) if path in tests] + users or folder or tests


@cache
def _imported(path: Path) -> set[str]:
    """Return the modules, and names in modules, that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text('utf-8'))):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f'{node.module}.{each.name}' for each in node.names)}
    return names


def survivors(root: Path, found: Sequence[Mutant], python: Path) -> list[Mutant]:
    """Return the mutants that no test kills.

    :raises Problem: a test fails on the unchanged source, or a mutant has no test
    """
    tests = {mutant.path: tests_of(root, mutant.path) for mutant in found}
    with _scratches(root, python) as free, ThreadPoolExecutor(AT_ONCE) as pool:

        def unchanged(path: Path) -> float:
            scratch, start = free.get(), time.monotonic()
            passed = bool(tests[path]) and scratch.passes(tests[path])
            free.put(scratch)
            if not passed:
                files = ' '.join(map(str, tests[path]))
                raise Problem(f'tests of {path} fail or do not exist: {files}')
            return time.monotonic() - start

        def survives(mutant: Mutant) -> bool:
            scratch = free.get()
            try:
                killed = scratch.kills(mutant, tests[mutant.path], PATIENCE * times[mutant.path])
            finally:
                free.put(scratch)
            note(f'{"killed  " if killed else "SURVIVED"} {mutant.path}:{mutant.line}')
            return not killed

        times = dict(zip(tests, pool.map(unchanged, tests), strict=True))
        note(f'{len(tests)} modules, tests pass unchanged in {sum(times.values()):.0f} s')
        alive = [*pool.map(survives, found)]
    return [each for each, survived in zip(found, alive, strict=True) if survived]


@contextmanager
def _scratches(root: Path, python: Path) -> Iterator[SimpleQueue[Scratch]]:
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
    given = parser.parse_args()
    folder = ROOT / PACKAGE / given.room
    sources = [folder] if folder.is_file() else sorted(folder.rglob('*.py'))
    if not sources:
        raise Problem(f'{folder} holds no Python file: give a room such as control')
    _enter_environment()
    from tools.mutation import mutants  # needs cosmic-ray

    found = mutants(ROOT, sources, given.sample, given.seed)
    alive = survivors(ROOT, found, VENV / 'bin' / 'python3')
    print(*alive, sep='\n')
    killed = len(found) - len(alive)
    note(f'{killed} of {len(found)} mutants killed ({killed / max(len(found), 1):.0%})')


if __name__ == '__main__':
    with one_line_errors():
        main()
