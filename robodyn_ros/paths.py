# SPDX-License-Identifier: Apache-2.0
"""File names of users: with ~, or in the share folder of a ROS package."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from robodyn_ros.errors import ConfigError

LONGEST = 255
"""Longest name of a file, in bytes (NAME_MAX of Linux)."""
DEEPEST = 200
"""Largest number of folders in a path; Python creates folders by recursion."""
PACKAGE = 'package://'


def expand(name: str) -> Path:
    """Return the path with ~ replaced by the home folder.

    :raises ConfigError: the home folder is unknown, or no file can have this name
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


def resource(name: str) -> Path:
    """Return the path of a file; `package://PACKAGE/...` is in the share folder of a package.

    :raises ConfigError: the package or the home folder is unknown
    """
    if not name.startswith(PACKAGE):
        return expand(name)
    package, _, rest = str(expand(name[len(PACKAGE) :])).partition('/')
    try:
        # Part of ROS 2, which nothing else in this module needs.
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(package)) / rest
    except (ImportError, LookupError, OSError, ValueError) as error:
        for scheme in (sysconfig.get_default_scheme(), f'{os.name}_user'):  # of pip
            share = Path(sysconfig.get_path('data', scheme)) / 'share' / package
            if share.is_dir():
                return share / rest
        raise ConfigError(f'{name}: there is no ROS package {package!r}') from error


def place_files(description: Any, folder: Path, keys: Collection[str]) -> Any:
    """Return a description whose file names are relative to a folder, at any depth.

    :param keys: of file names; a text that begins with `<` is the content of one, and stays
    """
    if isinstance(description, list):
        return [place_files(item, folder, keys) for item in description]
    if not isinstance(description, Mapping):
        return description
    placed = {key: place_files(value, folder, keys) for key, value in description.items()}
    for key in placed.keys() & {*keys}:
        if isinstance(placed[key], str) and not placed[key].lstrip().startswith('<'):
            placed[key] = str(folder / placed[key])
    return placed
