# SPDX-License-Identifier: Apache-2.0
"""Run of a command that leaves no process behind, also if it is interrupted."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36
"""Options of prctl."""
PATIENCE = 5.0
"""Time in which an interrupted command can end by itself, in [s]."""


class Interrupted(BaseException):
    """This process was asked to end."""


def run(command: Sequence[str], cwd: Path) -> int:
    """Run a command and return its exit code; its descendants end with it, or with this process.

    :raises Interrupted: SIGINT, SIGTERM or SIGHUP, or the parent of this process has ended
    """
    with _interruptible():
        process = subprocess.Popen(command, cwd=cwd)
        try:
            return process.wait()
        except Interrupted:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            raise
        finally:
            _end_descendants()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Adopt orphans, and raise `Interrupted` on a signal: once, as the first one ends all."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(number: int, _: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(signal.Signals(number).name)

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        prctl(SET_PARENT_DEATH_SIGNAL, 0, 0, 0, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_descendants() -> None:
    while alive := descendants(os.getpid()):
        for process in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and those that these have started."""
    children: dict[int, list[int]] = {}
    for file in Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            parent = int(file.read_text().rpartition(')')[2].split()[1])
            children.setdefault(parent, []).append(int(file.parent.name))
    rows = list(children.get(process, ()))
    for each in rows:  # grows meanwhile
        rows += children.get(each, ())
    return rows


if __name__ == '__main__':
    try:
        sys.exit(run(sys.argv[1:], Path.cwd()))
    except Interrupted as interrupted:
        sys.exit(f'robodyn: interrupted by {interrupted}')
