# SPDX-License-Identifier: Apache-2.0
"""One case in a bounded process."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from faults.hostile import HOSTILE
from faults.kinds import CALLS, KINDS
from faults.mutate import mutated

from robodyn_ros.cli.main import main
from robodyn_ros.errors import RobodynError

CPU = 10
"""Largest CPU time of a case, in [s]."""
MEMORY = 2**30
"""Largest memory that a case adds to that of the libraries, in [bytes]."""
WALL = 300.0
"""Largest duration of a case, in [s], for those that wait: other processes need the cores too."""
GOOD = ('done', 'negative', 'refused')


@dataclass(frozen=True)
class Outcome:
    """Result of a case.

    :param word: 'done', 'negative' (exit code 1), 'refused' (a sentence), or what is wrong:
        'unexpected', 'traceback', 'memory', 'output', 'crash', 'hang'
    """

    case: int | str
    kind: str
    command: str
    word: str
    text: str = ''
    seconds: float = 0.0


class Bench:
    """A folder with a copy of the corpus, where one case after the other runs."""

    def __init__(self, corpus: Path, folder: Path, seed: int) -> None:
        self.corpus, self.folder, self.seed = corpus, folder, seed
        self.case, self.out, self.log = folder / 'case', folder / 'out', folder / 'log'
        shutil.copytree(corpus, self.case)
        os.chdir(self.case)
        tempfile.tempdir = os.environ['TMPDIR'] = str(folder / 'tmp')
        Path(tempfile.tempdir).mkdir()
        os.environ['HOME'] = str(folder)
        _offer_xacro(folder / 'bin')

    def run(self, case: int | str) -> Outcome:
        """Run a mutation (number) or a hostile file (name)."""
        signal.setitimer(signal.ITIMER_REAL, WALL)
        kind, name, command, make = self.chosen(case)
        folder = self.case / (Path(name).parts[0] if '/' in name else '.')
        path = self.case / name
        backup = path.read_bytes() if path.exists() else None
        try:
            make(path)
            limit_cpu()
            words = command.replace('FILE', name).replace('BAG', str(folder)).split()
            words = [word.replace('OUT', str(self.out)) for word in words]
            return self._judged(case, kind, words)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            _remove(path)
            if backup is not None:
                path.write_bytes(backup)

    def chosen(self, case: int | str) -> tuple[str, str, str, Callable[[Path], object]]:
        """Return kind, file, command and maker of a case."""
        if isinstance(case, str):
            hostile = HOSTILE[case]
            return hostile.kind, hostile.name, hostile.command, hostile.make
        kind = kind_of(self.seed, case)
        rng = Random(f'{self.seed}:{case}')
        entry = KINDS[kind]
        name = rng.choice(entry.files)
        weights, commands = zip(*entry.commands, strict=True)
        (command,) = rng.choices(commands, weights)
        data = (self.corpus / name).read_bytes()
        return kind, name, command, lambda path: _write(path, mutated(data, entry.form, rng))

    def _judged(self, case: int | str, kind: str, words: list[str]) -> Outcome:
        self.out.mkdir(exist_ok=True)
        start = cpu_time()
        word, text = self._called(words)
        seconds = cpu_time() - start
        failed = word not in ('done', 'negative')
        left = [str(p) for p in self.out.rglob('*') if p.is_file()] if failed else []
        left += [  # expanded xacro files stay until the end of the process
            str(p) for p in (self.folder / 'tmp').iterdir() if 'robodyn_xacro_' not in p.name
        ]
        if word in GOOD and left:
            word, text = 'output', f'{left[0]} is left over'
        if word in GOOD and seconds > CPU:
            word, text = 'hang', f'{seconds:.1f} s'
        for folder in (self.out, self.folder / 'tmp'):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        return Outcome(case, kind, ' '.join(words), word, text, seconds)

    def _called(self, words: list[str]) -> tuple[str, str]:
        """Call a command; return the outcome and its message."""
        if words[0] in CALLS:
            return self._function(words)
        with self.log.open('w+b') as log:
            kept = os.dup(1), os.dup(2)
            for number in (1, 2):
                os.dup2(log.fileno(), number)
            try:
                code = main(words)
            except SystemExit as error:
                code = error.code
            except BaseException:
                return 'traceback', traceback.format_exc()[-2000:]
            finally:
                sys.stdout.flush(), sys.stderr.flush()
                for number, copy in zip((1, 2), kept, strict=True):
                    os.dup2(copy, number)
                    os.close(copy)
            log.seek(0)
            text = log.read().decode(errors='replace')
        return _word(code, text)

    def _function(self, words: list[str]) -> tuple[str, str]:
        try:
            CALLS[words[0]](words[1])
        except RobodynError as error:
            return _word(2, f'error: {error}')
        except MemoryError:
            return 'memory', traceback.format_exc()[-2000:]
        except Exception:
            return 'traceback', traceback.format_exc()[-2000:]
        return 'done', ''


SIGNS = {
    'Traceback': 'traceback', 'MemoryError': 'memory', 'error: not enough memory': 'memory',
    'error: unexpected ': 'unexpected',
}  # fmt: skip
"""Text in the output -> outcome."""


def _word(code: object, text: str) -> tuple[str, str]:
    """Return the outcome of an exit code and an output."""
    lines = text.splitlines()
    errors = [line for line in lines if line.startswith('error: ')]
    for sign, word in SIGNS.items():
        if any(sign in line for line in (lines if sign == 'Traceback' else errors)):
            return word, errors[0] if errors else text[-2000:]
    if code in (0, 1):
        return ('done', '') if code == 0 else ('negative', '')
    after = text[text.find('error: ') :].splitlines() if errors else []
    example = after[1:]  # lines of a file that would be correct
    shown = [line for line in example[1:] if line.startswith('  ')]
    if not after or (example and ['for example:', *shown] != example):
        return 'unexpected', f'no single sentence: {text[-500:]}'
    return 'refused', errors[0]


def kind_of(seed: int, case: int | str) -> str:
    """Return the kind of file of a case."""
    if isinstance(case, str):
        return HOSTILE[case].kind
    weights = [kind.weight for kind in KINDS.values()]
    return Random(f'kind {seed}:{case}').choices(list(KINDS), weights)[0]


def _offer_xacro(folder: Path) -> None:
    """Let `xacro` be a program that prints its file: only what reads its text is tested."""
    folder.mkdir()
    program = folder / 'xacro'
    program.write_text('#!/bin/sh\nexec cat "$1"\n')
    program.chmod(0o755)
    os.environ['PATH'] = f'{folder}:{os.environ["PATH"]}'


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    with suppress(FileNotFoundError):
        path.unlink()


def cpu_time() -> float:
    """Return the CPU time of this process and its children, in [s]."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def limit_cpu() -> None:
    """Give this process CPU seconds from now on; the kernel ends it after that.

    No RLIMIT_CPU: it counts ticks from the begin of the process, which after thousands of cases
    differ by more than CPU from the time that `os.times` tells.
    """
    signal.setitimer(signal.ITIMER_PROF, CPU + 1)


def limit_memory() -> None:
    """Let this process add MEMORY to its present address space."""
    with Path('/proc/self/status').open() as status:
        size = next(int(line.split()[1]) for line in status if line.startswith('VmSize'))
    resource.setrlimit(resource.RLIMIT_AS, (1024 * size + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
