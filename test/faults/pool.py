# SPDX-License-Identifier: Apache-2.0
"""Pool of bounded processes, which survive many cases and are replaced after a crash."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from faults.child import Bench, Outcome, limit_memory

CONTEXT = multiprocessing.get_context('fork')
"""The libraries are imported once, before the processes start."""


class Worker:
    """A process and the case it works on."""

    def __init__(self, corpus: Path, folder: Path, seed: int) -> None:
        self.pipe, other = CONTEXT.Pipe()
        self.stacks = folder / 'stacks'
        self.process = CONTEXT.Process(
            target=_serve, args=(other, corpus, folder, seed), daemon=True
        )
        self.process.start()
        other.close()
        self.case: Any = None

    def give(self, case: int | str | None) -> None:
        """Start a case; None: the process ends."""
        self.case = case
        self.pipe.send(case)

    def ended(self) -> Outcome:
        """Return the outcome of the case in which the process died."""
        self.process.join()
        code = self.process.exitcode or 0
        name = signal.Signals(-code).name if code < 0 else f'exit code {code}'
        word = 'hang' if name in ('SIGPROF', 'SIGALRM') else 'crash'
        stacks = self.stacks.read_text() if self.stacks.exists() else ''
        return Outcome(self.case, '', '', word, f'{name}\n{stacks}')


def _serve(pipe: Connection, corpus: Path, folder: Path, seed: int) -> None:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    bench = Bench(corpus, folder, seed)
    limit_memory()
    with (folder / 'stacks').open('w') as stacks:
        for number in (signal.SIGPROF, signal.SIGALRM):
            faulthandler.register(number, file=stacks, chain=True)
        while (case := pipe.recv()) is not None:
            pipe.send(bench.run(case))


def run_cases(
    cases: Iterable[int | str], corpus: Path, folder: Path, *, seed: int, jobs: int
) -> Iterator[Outcome]:
    """Run cases in `jobs` processes; yield the outcomes as they come.

    :param folder: for the files of the cases; the folders of crashed processes stay there
    """
    queue, started = iter(cases), 0

    def worker() -> Worker:
        nonlocal started
        started += 1
        return Worker(corpus, folder / str(started), seed)

    workers = [worker() for _ in range(jobs)]
    for each in workers:
        each.give(next(queue, None))
    while busy := {each.pipe: each for each in workers if each.case is not None}:
        for pipe in wait(list(busy)):
            each = busy[pipe]
            try:
                outcome = each.pipe.recv()
            except (EOFError, ConnectionResetError):
                outcome = None
            if outcome is None:
                outcome = each.ended()
                workers.remove(each)
                each = worker()
                workers.append(each)
            yield outcome
            each.give(next(queue, None))
    for each in workers:
        each.process.join()
