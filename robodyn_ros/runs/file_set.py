# SPDX-License-Identifier: Apache-2.0
"""Sets of files of which one run is the only writer, and which appear together or not at all.

The lock is that of the kernel on the folder (flock): it leaves no file and ends with its process.
Contexts of one thread nest. A file system without such locks is used without.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType

from robodyn_ros.errors import RobodynError
from robodyn_ros.output_files import is_folder, make_folder

PATIENCE = 2.0
"""Longest wait for another run that writes to a folder, in [s]; writing files takes less."""
_HELD: ContextVar[Mapping[tuple[int, int], Path | None]] = ContextVar(
    '_HELD', default=MappingProxyType({})
)
"""Folders that this thread has locked (device, inode), each with the hidden folder of its set."""


@contextmanager
def sole_writer(folder: str | Path, error: type[RobodynError]) -> Iterator[tuple[int, int]]:
    """Keep other runs from writing to a folder; it is created, and removed again if still empty.

    :raises RobodynError: of class `error`: another run writes to it, or it cannot be created
    """
    folder = Path(folder).absolute()
    created = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            descriptor = os.open(make_folder(folder, error), os.O_RDONLY)
        except OSError as reason:
            raise error(f'the folder {folder} cannot be used: {reason.strerror}') from reason
        try:
            key = _key(descriptor)
            if key in _HELD.get():
                yield key
                return
            if _try_lock(descriptor) and _key(folder) == key:
                token = _HELD.set({**_HELD.get(), key: None})
                try:
                    yield key
                    return
                finally:
                    _HELD.reset(token)
                    with suppress(OSError):  # not empty
                        for each in created:
                            each.rmdir()
        finally:
            os.close(descriptor)
        if time.monotonic() > deadline:
            text = 'another run writes to the folder {}: wait for its end, or choose another one'
            raise error(text.format(folder), fault='busy')
        time.sleep(0.02)


def _try_lock(descriptor: int) -> bool:
    """Lock a folder; return False if another run has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as reason:  # or the file system has no locks
        return not isinstance(reason, BlockingIOError)
    return True


def _key(folder: int | Path) -> tuple[int, int]:
    """Return device and inode of a folder; of none (0, 0): a run removed it again."""
    try:
        status = os.stat(folder)  # noqa: PTH116 - a descriptor has no path
    except FileNotFoundError:
        return 0, 0
    return status.st_dev, status.st_ino


@contextmanager
def file_set(
    folder: str | Path,
    error: type[RobodynError],
    leave: Callable[[], object] = tuple,
) -> Iterator[Path]:
    """Yield a hidden folder for files; at the end they replace those in `folder`.

    Inside the context of another set of the same folder, the files become part of that set.

    :param leave: removes files of an earlier run before the new ones come
    :raises RobodynError: as `sole_writer`, or of class `error`: a file cannot be replaced
    """
    folder = Path(folder).absolute()
    with sole_writer(folder, error) as key:
        if (joined := _HELD.get()[key]) is not None:
            yield joined
            return
        for left in folder.glob('.robodyn_*.partial'):  # of a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        partial = folder / f'.robodyn_{secrets.token_hex(4)}.partial'
        token = _HELD.set({**_HELD.get(), key: partial})
        try:
            partial.mkdir()
            yield partial
            _publish(partial, folder, leave)
        except OSError as reason:
            if isinstance(reason, RobodynError):
                raise
            raise error(f'the files cannot be written to {folder}: {reason}') from reason
        finally:
            _HELD.reset(token)
            shutil.rmtree(partial, ignore_errors=True)


def _publish(partial: Path, folder: Path, leave: Callable[[], object]) -> None:
    """Move files to their folder; those that programs load (YAML) leave first and come last."""
    order = {'.json': 0, '.yaml': 2}
    new = sorted(partial.iterdir(), key=lambda path: (order.get(path.suffix, 1), path.name))
    for path in new:
        if path.is_file() and is_folder(folder / path.name):
            raise IsADirectoryError(f'{folder / path.name} is a folder')
    with delay_signals():
        leave()
        for path in new:
            if path.suffix == '.yaml':
                (folder / path.name).unlink(missing_ok=True)
        for path in new:
            path.replace(folder / path.name)


@contextmanager
def delay_signals() -> Iterator[None]:
    """Delay SIGINT and SIGTERM to the end; only the main thread is interrupted by them."""
    arrived: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for arrival in arrived:
            signal.raise_signal(arrival)
