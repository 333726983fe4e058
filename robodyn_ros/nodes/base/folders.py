"""Folders that nodes write to."""

from __future__ import annotations

import time
from pathlib import Path

from robodyn_ros.errors import ConfigError

LONGEST = 255
"""Longest name of a file, in bytes (NAME_MAX of Linux)."""
DEEPEST = 200
"""Most folders in a path; Python makes folders by recursion."""


def expanded(name: str) -> Path:
    """Path with ~ replaced by the home folder.

    :raises ConfigError: there is no such home, or no file can have this name
    """
    parts = name.split('/')
    longest = max(len(part.encode(errors='replace')) for part in parts)
    if longest > LONGEST or len(parts) > DEEPEST or '\0' in name:
        raise ConfigError(
            f'{name[:60]}...: a path must have at most {DEEPEST} folders, got {len(parts)}, and '
            f'names of at most {LONGEST} bytes without null, got {longest}'
        )
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ConfigError(f'{name}: {error}') from error


def dated_folder(parent: Path, name: str) -> Path:
    """Make a new folder, named by the present time.

    :raises ConfigError: it cannot be made
    """
    first = (parent / time.strftime(f'{name}_%Y_%m_%d-%H_%M_%S')).absolute()
    path, number = first, 1
    while True:  # made at once, so that nobody else takes the same
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            number += 1
            path = first.with_name(f'{first.name}_{number}')
        except OSError as error:
            raise ConfigError(f'the folder {path} cannot be made: {error}') from error
