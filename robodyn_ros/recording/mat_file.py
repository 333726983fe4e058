"""Read MATLAB files up to version 7."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.table import Table, joint_names


def read_mat(path: Path) -> Table:
    """Read all numeric variables; fields of a struct are called `struct.field`.

    :raises RecordingError: it is no MAT file, is damaged, or has version 7.3 (HDF5)
    """
    from scipy.io import loadmat

    try:
        content = loadmat(str(path), appendmat=False)
    except NotImplementedError as error:
        raise RecordingError(
            f'{path}: MAT version 7.3 (HDF5) cannot be read; save it in MATLAB with -v7'
        ) from error
    except Exception as error:  # a parser fed with damaged bytes may raise anything
        reason = ' '.join(str(error).split())
        raise RecordingError(f'{path}: it cannot be read as MAT: {reason}') from error
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in content.items():
        if not name.startswith('__') and isinstance(value, np.ndarray):
            _collect(name, value, arrays)
    numeric = {name: values for name, values in arrays.items() if values.dtype.kind in 'fiub'}
    return Table(numeric, source=str(path), joints=joint_names(arrays))


def _collect(name: str, value: NDArray[Any], arrays: dict[str, NDArray[Any]]) -> None:
    if value.dtype.names is None:
        arrays[name] = value
    elif value.size == 1:
        for field in value.dtype.names:
            inner = value.reshape(-1)[0][field]
            if isinstance(inner, np.ndarray):
                _collect(f'{name}.{field}', inner, arrays)
