"""What the build tools share: places, the lock against a second build, and how they speak."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / '.venv'
INSTALL = ROOT / 'install'


class Problem(Exception):
    """Something the user has to do first; its text says what, in one sentence."""


def note(text: str) -> None:
    """Tell the user what is going on."""
    print(f'robodyn: {text}', flush=True)


@contextlib.contextmanager
def main_guard() -> Iterator[None]:
    """Turn a Problem into one line and exit code 1."""
    try:
        yield
    except Problem as problem:
        sys.exit(f'robodyn: {problem}')
    except KeyboardInterrupt:
        sys.exit('robodyn: interrupted; the next make build starts over')


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Let one build at a time work in this checkout; a second one waits."""
    with (ROOT / '.build.lock').open('w') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note('waiting for another build in this checkout ...')
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def outside(path: str) -> bool:
    """Tell whether a path entry is not one of this checkout's own."""
    return bool(path) and ROOT not in [Path(path), *Path(path).parents]


def sourced_ros() -> Path | None:
    """Return the prefix of the ROS 2 that the shell has sourced, if any."""
    for entry in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        if outside(entry) and Path(entry, 'share/ament_index/resource_index/packages/rclpy').exists():
            return Path(entry)
    return None
