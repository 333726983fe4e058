# SPDX-License-Identifier: Apache-2.0
"""Reader of NPZ archives of numpy arrays (never of pickled objects)."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from robodyn_ros.bounds import COLUMNS, check_bound, check_expansion
from robodyn_ros.recording import storage
from robodyn_ros.recording.tables.table import Table, reading, table_of

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npz(path: Path) -> Table:
    """Read all numeric arrays of an archive; `joint_names` (text) names the joints.

    :raises RecordingError: it is not an NPZ archive, is damaged, or contains pickled objects
    """
    with reading(path, 'NPZ'), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        check_bound(COLUMNS, len(members))
        check_expansion(sum(member.file_size for member in members), path.stat().st_size)
        arrays = {}
        for member in members:
            with archive.open(member) as stream:
                arrays[member.filename.removesuffix('.npy')] = _array(stream, member.file_size)
        return table_of({name: item for name, item in arrays.items() if item is not None}, path)


def _array(stream: Any, size: int) -> NDArray[Any] | None:
    """Read an array of the .npy format block by block; None: it has no numbers or text.

    :param size: size of the member, in [bytes]
    """
    read = HEADERS.get(npy.read_magic(stream))
    if read is None:  # of structures only
        return None
    shape, by_columns, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError(f'{stream.name} has pickled objects')
    if math.prod(shape) * dtype.itemsize > size or min(shape, default=0) < 0:
        raise ValueError(f'{stream.name} has {size} bytes, too few for the shape {shape}')
    if dtype.kind not in 'fiubU':
        return None
    if not math.prod(shape):
        return np.empty(shape, dtype)
    rows = (shape[::-1] if by_columns else shape) or (1,)
    stored = storage.Spool(rows[1:], dtype)
    width = dtype.itemsize * math.prod(rows[1:])
    at_once = max(1, min(storage.BLOCK, storage.KEPT // max(width, 1)))
    for first in range(0, rows[0], at_once):
        data = stream.read(min(at_once, rows[0] - first) * width)
        stored.append(np.frombuffer(data, dtype))
    whole = stored.array()
    if len(whole) != rows[0]:
        raise ValueError(f'{stream.name} ends after {len(whole)} of {rows[0]} rows')
    return whole.T if by_columns else whole.reshape(shape)
