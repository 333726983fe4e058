# SPDX-License-Identifier: Apache-2.0
"""Output files: folders, files that appear completely or not at all, and JSON."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from robodyn_ros.errors import RobodynError


def make_folder(path: str | Path, error: type[RobodynError]) -> Path:
    """Return a folder for files; create it if it does not exist.

    :raises RobodynError: of class `error`: it cannot be created
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise error(f'the folder {folder} cannot be made: {reason}') from reason
    return folder


def is_folder(path: str | Path) -> bool:
    """Return True if there is a folder; without permission False, where `Path.is_dir` raises."""
    return os.path.isdir(path)  # noqa: PTH112


def unusable(path: str | Path) -> str:
    """Return why no file can be made at or in a path, or ''; nothing is made."""
    place = Path(path).absolute()
    there = next(each for each in (place, *place.parents) if os.path.lexists(each))
    if there != place and not is_folder(there):
        return f'{there} is not a folder'
    folder = there if is_folder(there) else there.parent
    return '' if os.access(folder, os.W_OK | os.X_OK) else f'{folder} cannot be written to'


def write_file(
    path: str | Path,
    write: Callable[[Path], object],
    error: type[RobodynError],
    *,
    what: str = '',
) -> None:
    """Write a file completely or not at all; after an error no other file remains in its folder.

    :param write: function that writes the content to a temporary path in the same folder, with
        the same suffix
    :param what: name of the file in messages, such as 'the motion file'
    :raises RobodynError: of class `error`: it cannot be written
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        temporary = _create_beside(path)
        write(temporary)
        with temporary.open('rb+') as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as reason:
        named = f'{what} {path}' if what else str(path)
        raise error(f'{named} cannot be written: {reason}') from reason
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _create_beside(path: Path) -> Path:
    """Create an empty file of another name beside a path, with the rights of the umask."""
    temporary = path.with_name(f'.{path.name}.{secrets.token_hex(4)}{path.suffix}')
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return temporary


def json_text(facts: object) -> str:
    """Return facts as strict JSON text, see `plain`."""
    return json.dumps(plain(facts), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """Return what JSON has: numbers, text, lists and mappings with text as keys.

    Arrays become lists, data classes become mappings, NaN and infinity become None.
    """
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if hasattr(value, 'tolist'):  # arrays and numbers of numpy
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
