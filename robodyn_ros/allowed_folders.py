# SPDX-License-Identifier: Apache-2.0
"""Folders in which paths that come from the network may lie."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from robodyn_ros.errors import ConfigError
from robodyn_ros.paths import PACKAGE, expand, resource

PARAMETER = 'allowed_directories'
"""Parameter of a node that names the folders."""
SHOWN = 80
"""Largest number of characters of a name or path in a message, one line of a terminal."""
NEW_FOLDERS = 5
"""Largest number of names in a requested path that do not exist: a request creates few folders."""


class AllowedFolders:
    """Folders, and files, that a request may name; symbolic links are followed before the check.

    Names that begin with a dot are not allowed below a folder: they hold keys, settings and
    programs, such as `.ssh` below a home folder.
    """

    def __init__(self, places: Iterable[str | Path]) -> None:
        """Resolve folders and files.

        :raises ConfigError: no file can have this name, or the package is unknown
        """
        self._places = tuple(dict.fromkeys(_real(resource(str(place))) for place in places))

    def path(self, name: str | Path) -> Path:
        """Return the absolute path of a requested file or folder, without symbolic links.

        :raises ConfigError: it is outside the allowed folders, or no file can have this name
        """
        path = _real(resource(str(name)))
        missing = sum(not os.path.lexists(each) for each in (path, *path.parents))
        if not str(path).isprintable() or missing > NEW_FOLDERS:
            raise ConfigError(
                f'the path {shorten(str(path))} must have no control characters and at most '
                f'{NEW_FOLDERS} folders that do not exist, got {missing}: create its folder first',
                fault='path_not_allowed',
            )
        if any(_contains(place, path) for place in self._places):
            return path
        places = ', '.join(map(str, self._places)) or 'none'
        raise ConfigError(
            f'the path {shorten(str(path))} is in none of the allowed folders ({places}), or '
            f'has a hidden name there: add its folder to the parameter {PARAMETER} of the node',
            fault='path_not_allowed',
        )


def default_folders() -> list[Path]:
    """Return the folders that are allowed without the parameter.

    The root folder is left out: a service that the system starts has it as its current folder.
    """
    home = expand(os.environ.get('ROS_HOME') or '~/.ros')
    log = os.environ.get('ROS_LOG_DIR')
    try:
        share = [resource(f'{PACKAGE}robodyn_ros')]
        # in a linked installation, the files of the share folder are links to the checkout
        share.append(_real(share[0] / 'config' / 'fastdds.xml').parent)
    except ConfigError:  # the package is used without ROS
        share = []
    folders = [Path.cwd(), home, *([expand(log)] if log else []), Path(tempfile.gettempdir())]
    return without_root((*folders, *share))


def without_root(places: Iterable[str | Path]) -> list[Path]:
    """Return places except the root folder, which contains all others.

    :raises ConfigError: no file can have this name, or the package is unknown
    """
    real = [_real(resource(str(place))) for place in places]
    return [place for place in real if place != Path('/')]


def shorten(text: str) -> str:
    """Cut a text of a request for a message."""
    return text if len(text) <= SHOWN else f'{text[:SHOWN]}...'


def _contains(place: Path, path: Path) -> bool:
    """Return True if a path is a place, or is below it without hidden names."""
    if not path.is_relative_to(place):
        return False
    return not any(part.startswith('.') for part in path.relative_to(place).parts)


def _real(path: Path) -> Path:
    """Return an absolute path without links and `..`; unlike `Path.resolve`, it never raises."""
    return Path(os.path.realpath(path))
