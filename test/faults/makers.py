# SPDX-License-Identifier: Apache-2.0
"""Makers of hostile files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

GB = 2**30
Make = Callable[[Path], object]


def text(content: str | bytes) -> Make:
    data = content.encode() if isinstance(content, str) else content
    return lambda path: path.write_bytes(data)


def fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def link(target: str) -> Make:
    def make(path: Path) -> None:
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return make


def sparse(size: int) -> Make:
    """Return a maker of a file of zeros that takes no space on the disk."""

    def make(path: Path) -> None:
        with path.open('wb') as file:
            file.truncate(size)

    return make
