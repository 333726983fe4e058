# SPDX-License-Identifier: Apache-2.0
"""Cases in a bounded process, one after the other; a crash costs the process, not the run."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import io
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from faults.hostile import HOSTILE
from faults.kinds import CALLS, KINDS
from faults.mutate import mutated

from robodyn_ros.cli import main as cli
from robodyn_ros.errors import RobodynError

CPU = 10
"""Largest CPU time of a case, in [s]."""
MEMORY = 2**30
"""Largest memory that a case adds to that of the libraries, in [bytes]."""
WALL = 300.0
"""Largest duration of a case, in [s], for those that wait: other processes need the cores too."""
GOOD = ('done', 'negative', 'refused')
SIGNS = {
    'Traceback': 'traceback', 'MemoryError': 'memory', 'error: not enough memory': 'memory',
    'error: unexpected ': 'unexpected',
}  # fmt: skip
"""Text in a line of an error -> outcome; a traceback counts in any line."""
WARM_UP = (
    'check table.csv', 'check table.parquet', 'check table.jsonl', 'check table.h5',
    'check packed.npz', 'check packed.mat', 'check sqlite3', 'check zstd.mcap',
    'check lz4.mcap', 'check big', 'collisions event', 'bodywise bodies.csv',
    'friction passes.npz --joints a,b', 'delay delay',
    'advise motion_sine.yaml --urdf arm.urdf', 'report page', 'topics mcap',
    'collisions healthy0.npz --thresholds thresholds.yaml --model healthy.yaml',
    'motion motion_sine.yaml --urdf meshed.urdf',
)  # fmt: skip
"""Commands that import each library and parser once, so that no case pays for it."""


@dataclass(frozen=True)
class Outcome:
    """Result of a case.

    :param word: 'done', 'negative' (exit code 1), 'refused' (a sentence), or what is wrong:
        'unexpected', 'traceback', 'memory', 'output', 'crash', 'hang'
    """

    case: int | str
    word: str
    command: str = ''
    text: str = ''
    seconds: float = 0.0


def kind_of(seed: int, case: int | str) -> str:
    """Return the kind of file of a case."""
    if isinstance(case, str):
        return HOSTILE[case].kind
    weights = [kind.weight for kind in KINDS.values()]
    return Random(f'kind {seed}:{case}').choices(list(KINDS), weights)[0]


def run_cases(
    cases: Sequence[int | str], corpus: Path, folder: Path, seed: int
) -> Iterator[Outcome]:
    """Yield the outcome of each mutation (number) and hostile file (name).

    :param folder: for the files of the cases
    """
    warm_up(corpus)
    rest = list(cases)
    for number in range(len(cases) + 1):
        if not rest:
            return
        place = folder / str(number)
        shutil.copytree(corpus, place / 'case')
        source, sink = os.pipe()
        if not (child := os.fork()):
            _serve(rest, place, seed, sink)
        os.close(sink)
        try:
            with os.fdopen(source, 'rb') as pipe, contextlib.suppress(EOFError):
                while True:
                    outcome = pickle.load(pipe)
                    rest.pop(0)
                    yield outcome
        finally:  # also if this run is interrupted: the child, and what it has started
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if rest:
            name = signal.Signals(-code).name if code < 0 else f'exit code {code}'
            word = 'hang' if name in ('SIGPROF', 'SIGALRM') else 'crash'
            yield Outcome(rest.pop(0), word, text=f'{name}\n{(place / "stacks").read_text()}')


def warm_up(corpus: Path) -> None:
    """Run a command of each library on the valid files; keep the parser of the commands."""
    cli.build_parser = functools.cache(cli.build_parser)
    warnings.simplefilter('ignore')
    here = Path.cwd()
    os.chdir(corpus)
    try:
        for words in map(str.split, WARM_UP):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                if words[0] in CALLS:
                    CALLS[words[0]](words[1])
                else:
                    assert cli.main(words) in (0, 1), (words, output.getvalue())
    finally:
        os.chdir(here)


def _serve(cases: Sequence[int | str], place: Path, seed: int, sink: int) -> None:
    """Run cases in this process, and end it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    bench = Bench(place, seed)
    limit_memory()
    with (place / 'stacks').open('w') as stacks, os.fdopen(sink, 'wb') as pipe:
        faulthandler.enable(stacks)
        for number in (signal.SIGPROF, signal.SIGALRM):
            faulthandler.register(number, file=stacks, chain=True)
        for case in cases:
            pickle.dump(bench.run(case), pipe)
            pipe.flush()
    os._exit(0)


def limit_memory() -> None:
    """Let this process add MEMORY to its present address space."""
    size = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Bench:
    """A folder with a copy of the corpus, where one case after the other runs."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.case, self.out, self.log = folder / 'case', folder / 'out', folder / 'log'
        os.chdir(self.case)
        tempfile.tempdir = os.environ['TMPDIR'] = str(folder / 'tmp')
        os.environ['HOME'] = str(folder)
        # `xacro` prints its file: only what reads its text is tested
        program = folder / 'bin' / 'xacro'
        program.parent.mkdir()
        program.write_text('#!/bin/sh\nexec cat "$1"\n')
        program.chmod(0o755)
        os.environ['PATH'] = f'{program.parent}:{os.environ["PATH"]}'

    def run(self, case: int | str) -> Outcome:
        """Damage a file, run a command on it, and give the file back its content."""
        signal.setitimer(signal.ITIMER_REAL, WALL)
        rng = Random(f'{self.seed}:{case}')
        if isinstance(case, str):
            name, command = HOSTILE[case].name, HOSTILE[case].command
        else:
            kind = KINDS[kind_of(self.seed, case)]
            name = rng.choice(kind.files)
            weights, commands = zip(*kind.commands, strict=True)
            (command,) = rng.choices(commands, weights)
        path = self.case / name
        bag = self.case / (Path(name).parts[0] if '/' in name else '.')
        backup = path.read_bytes() if path.exists() else None
        try:
            if isinstance(case, str):
                HOSTILE[case].write(path)
            else:
                path.write_bytes(mutated(backup or b'', kind.form, rng))
            words = command.replace('FILE', name).replace('BAG', str(bag)).split()
            return self._outcome(case, [word.replace('OUT', str(self.out)) for word in words])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            path.unlink(missing_ok=True)
            if backup is not None:
                path.write_bytes(backup)

    def _outcome(self, case: int | str, words: list[str]) -> Outcome:
        folders = self.out, self.folder / 'tmp'
        for each in folders:
            shutil.rmtree(each, ignore_errors=True)
            each.mkdir()
        # not RLIMIT_CPU: it counts from the start of the process, in ticks
        signal.setitimer(signal.ITIMER_PROF, CPU + 1)
        start = sum(os.times()[:4])
        word, text = self._function(words) if words[0] in CALLS else self._command(words)
        seconds = sum(os.times()[:4]) - start
        failed = word not in ('done', 'negative')
        left = [path for path in self.out.rglob('*') if path.is_file()] if failed else []
        # expanded xacro files stay until the end of the process
        left += [path for path in folders[1].iterdir() if 'robodyn_xacro_' not in path.name]
        if word in GOOD and left:
            word, text = 'output', f'{left[0]} is left over'
        if word in GOOD and seconds > CPU:
            word, text = 'hang', f'{seconds:.1f} s'
        return Outcome(case, word, ' '.join(words), text, seconds)

    def _command(self, words: list[str]) -> tuple[str, str]:
        """Call a command; return the outcome and its message."""
        with self.log.open('w+b') as log:
            kept = os.dup(1), os.dup(2)
            for number in (1, 2):
                os.dup2(log.fileno(), number)
            try:
                code = cli.main(words)
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
            return _word(code, log.read().decode(errors='replace'))

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
