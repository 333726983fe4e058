# SPDX-License-Identifier: Apache-2.0
"""What the threads of a hung process wait for: kernel, mapped files, stacks."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

FUTEX = '202'
"""System call in which a thread waits for a lock, on x86-64."""


def waits(pid: int) -> str:
    """Return a line for each thread: name, state, system call, and the file of a lock.

    A lock in /dev/shm belongs to the shared memory of the middleware; a process that was killed
    while it held it leaves it locked.
    """
    lines = []
    maps = _maps(pid)
    for task in sorted(Path(f'/proc/{pid}/task').glob('*')):
        with suppress(OSError):
            name = (task / 'comm').read_text().strip()
            state = (task / 'stat').read_text().rpartition(')')[2].split()[0]
            call, *rest = (task / 'syscall').read_text().split()
            where = (task / 'wchan').read_text().strip()
            lock = _file_at(maps, int(rest[0], 16)) if call == FUTEX else ''
            lines.append(f'{task.name} {name}: {state}, call {call} {lock} in {where}')
    return '\n'.join(lines)


def _maps(pid: int) -> list[tuple[int, int, str]]:
    """Return start, end and file of each mapping."""
    rows = []
    with suppress(OSError):
        for line in Path(f'/proc/{pid}/maps').read_text().splitlines():
            span, *_, name = (
                line.split(maxsplit=5) if line.count(' ') > 5 else (line.split()[0], '')
            )
            start, end = (int(part, 16) for part in span.split('-'))
            rows.append((start, end, name))
    return rows


def _file_at(maps: list[tuple[int, int, str]], address: int) -> str:
    return next((name for start, end, name in maps if start <= address < end), 'unmapped')


def stacks(pid: int) -> str:
    """Return the stacks of all threads by py-spy, if it is installed; it stops nothing."""
    if shutil.which('py-spy') is None:
        return 'py-spy is not installed'
    command = ['py-spy', 'dump', '--native', '--pid', str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return 'py-spy did not end'
    return done.stdout + done.stderr


def look(pid: int) -> str:
    """Return `waits` twice, as what has not changed hangs, and the stacks."""
    first = waits(pid)
    time.sleep(0.5)
    return '\n\n'.join([first, waits(pid), stacks(pid)])


def dump(processes: dict[str, subprocess.Popen[bytes]], folder: Path) -> None:
    """Write what each living process does into NAME.stacks, and end it by SIGABRT.

    With PYTHONFAULTHANDLER=1 it writes its own stacks into its log before.
    """
    living = {name: each for name, each in processes.items() if each.poll() is None}
    for name, process in living.items():
        (folder / f'{name}.stacks').write_text(look(process.pid))
    for process in living.values():
        process.send_signal(signal.SIGABRT)
    for process in living.values():
        with suppress(subprocess.TimeoutExpired):
            process.wait(10.0)
