# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the build tools: paths, the lock against a second build, and messages."""

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
RCLPY = Path('share/ament_index/resource_index/packages/rclpy')


class Problem(Exception):  # noqa: N818 (a task for the user, not an error)
    """Task for the user; its text is one sentence."""


def note(text: str) -> None:
    """Print a message."""
    print(f'robodyn: {text}', flush=True)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Convert errors that a user can cause into one line and exit code 1."""
    try:
        yield
    except Problem as problem:
        sys.exit(f'robodyn: {problem}')
    except OSError as error:
        place = error.filename or ROOT
        sys.exit(f'robodyn: cannot build in this checkout: {error.strerror}: {place}')
    except KeyboardInterrupt:
        sys.exit('robodyn: interrupted; run make build again to continue')


@contextlib.contextmanager
def hold_lock() -> Iterator[None]:
    """Permit one build at a time in this checkout; a second one waits."""
    with (ROOT / '.build.lock').open('w') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note('waiting for another build in this checkout ...')
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def inside(entry: str, folder: Path) -> bool:
    """Return True if an entry of a path variable lies in a folder."""
    return bool(entry) and folder in [Path(entry), *Path(entry).parents]


def find_sourced_ros() -> Path | None:
    """Return the prefix of the sourced ROS 2, or None."""
    for entry in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        if entry and not inside(entry, ROOT) and Path(entry, RCLPY).exists():
            return Path(entry)
    return None
