"""Reader of MATLAB files up to version 7."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording import storage
from robodyn_ros.recording.tables.table import Table, reading, table_of


def read_mat(path: Path) -> Table:
    """Read all numeric variables; fields of a struct are named `struct.field`.

    :raises RecordingError: it is not a MAT file, is damaged, or has version 7.3 (HDF5)
    """
    arrays: dict[str, NDArray[Any]] = {}
    with reading(path, 'MAT'):
        try:
            for name, value in _variables(path):
                _collect(name, value, arrays)
        except NotImplementedError as error:
            raise RecordingError(
                f'{path}: MAT version 7.3 (HDF5) cannot be read; save it in MATLAB with -v7'
            ) from error
    return table_of(arrays, path)


def _variables(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield variables one by one, so that only the largest must fit into memory."""
    from scipy.io import loadmat, whosmat

    for name, _, _ in whosmat(str(path), appendmat=False):
        if not name.startswith('__'):
            value = loadmat(str(path), appendmat=False, variable_names=[name]).get(name)
            if isinstance(value, np.ndarray):
                yield name, value


def _collect(name: str, value: NDArray[Any], arrays: dict[str, NDArray[Any]]) -> None:
    if value.dtype.names is None:
        large = value.nbytes > storage.KEPT and value.dtype.kind in 'fiub'
        arrays[name] = storage.blockwise(np.asarray, value, dtype=value.dtype) if large else value
    elif value.size == 1:
        for field in value.dtype.names:
            inner = value.reshape(-1)[0][field]
            if isinstance(inner, np.ndarray):
                _collect(f'{name}.{field}', inner, arrays)
