# SPDX-License-Identifier: Apache-2.0
"""Free space on the disk that a recording is written to."""

from __future__ import annotations

import shutil
from pathlib import Path

from robodyn_ros.errors import RecordingError


def check_space(path: Path, least: float) -> None:
    """Refuse a disk with too little space.

    :param path: absolute path of an existing or future file or folder
    :param least: space that must be free, in [bytes]
    :raises RecordingError: less is free; unknown free space is accepted
    """
    folder = next(parent for parent in (path, *path.parents) if parent.exists())
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return
    if free < least:
        raise RecordingError(
            f'{path}: {free / 1e6:.0f} MB are free on its disk, minimum '
            f'{least / 1e6:.0f} MB: free some space, or lower min_free_space',
            fault='disk_full',
        )
