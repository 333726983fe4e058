# SPDX-License-Identifier: Apache-2.0
"""Real small disks, to be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size: float) -> Iterator[Path]:
    """Mount an empty disk of a size in bytes at a new folder, or skip the test."""
    place.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', f'size={int(size)}', 'tmpfs', str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip('mounting a small disk needs root')
    try:
        yield place
    finally:
        subprocess.run(['umount', '--lazy', str(place)], check=True)


def fill(path: Path) -> None:
    """Take all free space of a disk, as another program does."""
    with path.open('wb', buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
