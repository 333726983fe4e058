# SPDX-License-Identifier: Apache-2.0
"""Folder of events with a bounded size: the oldest ones are deleted first."""

from __future__ import annotations

import errno
import re
import shutil
import time
from pathlib import Path

from robodyn_ros.control.collision.black_box.event import Event
from robodyn_ros.control.collision.black_box.event_file import is_event, write_event
from robodyn_ros.errors import RecordingError

NAME = re.compile(r'event_\d{8}_\d{6}(_\d+)?')
"""Names of events. Nothing else in the folder is deleted."""
FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors that deleting an event can mend."""


class EventFolder:
    """Events in a folder, each a rosbag2."""

    def __init__(self, path: Path, limit: float) -> None:
        """Store the arguments; the folder is created with the first event.

        :param limit: size of all events together, in [bytes]
        """
        self.path, self._limit = path, limit

    def add(self, event: Event) -> Path:
        """Write an event, and delete old ones that have no space beside it.

        :raises RecordingError: it cannot be written, even without any old event, or another
            program takes the space of those that were deleted
        """
        partial, expected = self.path / '.event.partial', 0
        while True:
            try:
                shutil.rmtree(partial, ignore_errors=True)
                self.path.mkdir(parents=True, exist_ok=True)
                write_event(event, partial)
                break
            except OSError as error:
                shutil.rmtree(partial, ignore_errors=True)
                expected = self._made_room(error, expected)
        return self._placed(partial)

    def _made_room(self, error: OSError, expected: int) -> int:
        """Delete the oldest event; return the free space that another failure must find, in bytes.

        :param expected: what the last call has returned; with less, deleting does not help
        """
        if error.errno in FULL and self.events():
            free = shutil.disk_usage(self.path).free
            dropped = self._drop_oldest() if free >= expected else 0
            if dropped:
                return free + dropped // 2  # other programs may write a little meanwhile
        text = error.strerror or error
        raise RecordingError(f'{self.path}: an event is lost: {text}') from error

    def _placed(self, partial: Path) -> Path:
        try:
            size = _size(partial)
            if size > self._limit:
                raise RecordingError(
                    f'{self.path}: an event is lost: it has {size / 1e6:.1f} MB, black_box_size '
                    f'is {self._limit / 1e6:.1f} MB'
                )
            while sum(map(_size, self.events())) + size > self._limit and self._drop_oldest():
                pass
            return partial.rename(self._name())
        except OSError as error:
            raise RecordingError(f'{self.path}: an event is lost: {error}') from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _name(self) -> Path:
        """Return a new name, behind those of the same second."""
        first = self.path / time.strftime('event_%Y%m%d_%H%M%S')
        second = _age(first)[0]
        numbers = [number for when, number in map(_age, self.events()) if when == second]
        if not numbers:
            return first
        return first.with_name(f'{first.name}_{max(numbers) + 1}')

    def events(self) -> list[Path]:
        """Return the events, oldest first."""
        try:
            found = [
                path
                for path in self.path.iterdir()
                if NAME.fullmatch(path.name) and is_event(path)
            ]
        except OSError:
            return []
        return sorted(found, key=_age)

    def _drop_oldest(self) -> int:
        """Delete the oldest event; return its size in bytes, 0 if none can be deleted."""
        for path in self.events():
            size = _size(path)
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():
                return max(size, 1)
        return 0


def _age(path: Path) -> tuple[str, int]:
    _, day, second, *number = path.name.split('_')
    return f'{day}_{second}', int(number[0]) if number else 1


def _size(path: Path) -> int:
    """Return the size of the files in a folder, in [bytes]."""
    return sum(file.stat().st_size for file in path.iterdir())
