# SPDX-License-Identifier: Apache-2.0
"""Folders that nodes write to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from robodyn_ros.errors import ConfigError


def make_dated_folder(parent: Path, name: str) -> Path:
    """Make a new folder, named by the present time.

    :raises ConfigError: it cannot be made
    """
    first = (parent / time.strftime(f'{name}_%Y_%m_%d-%H_%M_%S')).absolute()
    path, number = first, 1
    while True:  # made at once, so that no other process takes the same name
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            number += 1
            path = first.with_name(f'{first.name}_{number}')
        except OSError as error:
            raise ConfigError(f'the folder {path} cannot be made: {error}') from error


@contextmanager
def remove_if_empty(folder: Path) -> Iterator[None]:
    """Remove a folder if an error ends this before something was written to it."""
    try:
        yield
    except Exception:
        with suppress(OSError):
            folder.rmdir()
        raise
