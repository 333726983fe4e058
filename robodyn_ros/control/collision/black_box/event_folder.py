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
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
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

        :raises RecordingError: it cannot be written, even without any old event
        """
        partial = self.path / '.event.partial'
        while True:
            try:
                shutil.rmtree(partial, ignore_errors=True)
                self.path.mkdir(parents=True, exist_ok=True)
                write_event(event, partial)
                break
            except OSError as error:
                shutil.rmtree(partial, ignore_errors=True)
                if error.errno not in FULL or not self._drop_oldest():
                    text = error.strerror or error
                    raise RecordingError(f'{self.path}: an event is lost: {text}') from error
        return self._placed(partial)

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

    def _drop_oldest(self) -> bool:
        """Delete the oldest event; return False if there is none that can be deleted."""
        for path in self.events():
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():
                return True
        return False


def _age(path: Path) -> tuple[str, int]:
    _, day, second, *number = path.name.split('_')
    return f'{day}_{second}', int(number[0]) if number else 1


def _size(path: Path) -> int:
    """Return the size of the files in a folder, in [bytes]."""
    return sum(file.stat().st_size for file in path.iterdir())
