"""Reader of NPZ archives of numpy arrays (never of pickled objects)."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording import storage
from robodyn_ros.recording.tables.table import Table, reading, table_of


def read_npz(path: Path) -> Table:
    """Read all numeric arrays of an archive; `joint_names` (text) names the joints.

    :raises RecordingError: it is not an NPZ archive, is damaged, or contains pickled objects
    """
    with reading(path, 'NPZ'):
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise RecordingError(f'{path}: expected an NPZ archive, got a single array')
        with archive:
            return table_of({name: _array(archive, name) for name in archive.files}, path)


def _array(archive: Any, name: str) -> NDArray[Any]:
    """Read one array of an open archive; large ones are never completely in memory."""
    members: zipfile.ZipFile = archive.zip
    member = f'{name}.npy'
    if member in members.namelist() and members.getinfo(member).file_size > storage.KEPT:
        with members.open(member) as stream:
            found = _stored(stream)
        if found is not None:
            return found
    return np.asarray(archive[name])


def _stored(stream: Any) -> NDArray[Any] | None:
    """Read an array of the .npy format block by block; None: it has no rows of numbers.

    :raises ValueError: it ends too early
    """
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read(stream)
    if dtype.kind not in 'fiub' or not shape or version > (2, 0):
        return None
    rows = shape[::-1] if by_columns else shape
    stored = storage.Spool(rows[1:], dtype)
    size = dtype.itemsize * int(np.prod(rows[1:]))
    at_once = max(1, min(storage.BLOCK, storage.KEPT // max(size, 1)))
    for first in range(0, rows[0], at_once):
        count = min(at_once, rows[0] - first)
        data = stream.read(count * size)
        if len(data) != count * size:
            raise ValueError(f'{stream.name} ends after {first} of {rows[0]} rows')
        stored.append(np.frombuffer(data, dtype))
    whole = stored.array()
    return whole.T if by_columns else whole
