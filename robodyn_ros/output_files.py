"""The one way this package makes folders for files, and files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from robodyn_ros.errors import RobodynError


def made_folder(path: str | Path, error: type[RobodynError]) -> Path:
    """Return a folder for files, made if there is none.

    :param error: class of the error
    :raises RobodynError: of class `error`: it cannot be made
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise error(f'the folder {folder} cannot be made: {reason}') from reason
    return folder


def write_whole(
    path: str | Path,
    write: Callable[[Path], object],
    error: type[RobodynError],
    *,
    what: str = '',
) -> None:
    """Write a file whole or not at all; whatever goes wrong, nothing else stays in its folder.

    :param write: writes everything to the path it is given: one in the same folder, with the same
        suffix
    :param error: class of the error
    :param what: names the file in messages, such as 'the motion file'
    :raises RobodynError: of class `error`: it cannot be written
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f'.{path.name}.', suffix=path.suffix
        )
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        with temporary.open('rb+') as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as reason:
        named = f'{what} {path}' if what else str(path)
        raise error(f'{named} cannot be written: {reason}') from reason
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
