# SPDX-License-Identifier: Apache-2.0
"""Readers of files of arrays by name: NPZ, MAT, and HDF5, of which MAT 7.3 is made."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.bounds import COLUMNS, MAT_MEMORY, MAT_TIME, check_bound, check_expansion
from robodyn_ros.recording.tables.table import Table, reading, table_of
from robodyn_ros.recording.tables.units import unit_of

LOAD = 'from robodyn_ros.recording.tables.array_file import print_mat; print_mat()'
"""Program that reads a MAT file."""
Arrays = Iterator[tuple[str, Any]]


def read_npz(path: Path) -> Table:
    """Read all numeric arrays of an archive; `joint_names` (text) names the joints.

    :raises RecordingError: it is not an NPZ archive, is damaged, or contains pickled objects
    """
    with reading(path, 'NPZ'):
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        check_bound(COLUMNS, len(members))
        check_expansion(sum(member.file_size for member in members), path.stat().st_size)
        with np.load(path, allow_pickle=False) as arrays:
            return table_of(((name, np.asarray(arrays[name])) for name in arrays.files), path)


def read_mat(path: Path) -> Table:
    """Read all numeric variables; fields of a struct are named `struct.field`, of HDF5 by path.

    :raises RecordingError: it is neither MAT nor HDF5, or is damaged
    """
    import h5py  # slow to import

    with reading(path, 'MAT' if path.suffix.lower() == '.mat' else 'HDF5'):
        if h5py.is_hdf5(path):
            units: dict[str, str] = {}
            return replace(table_of(_of_hdf5(path, units), path), units=units)
        return table_of(iter(_load(path).items()), path)


def _load(path: Path) -> dict[str, Any]:
    """Return the arrays of a MAT file by name; a ValueError tells why there are none.

    scipy reads them in another process: of files with a few wrong bytes, one in 100 ends it.
    """
    memory = MAT_MEMORY.most + 8 * path.stat().st_size
    limited = ['sh', '-c', f'ulimit -v {memory // 1024}; exec "$@"', 'sh']
    environment = os.environ | {
        'OPENBLAS_NUM_THREADS': '1', 'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
    }  # fmt: skip
    try:
        done = subprocess.run(
            [*limited, sys.executable, '-c', LOAD, path],
            capture_output=True, env=environment, timeout=MAT_TIME.most,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ValueError(f'reading it takes more than {MAT_TIME.most} s') from error
    if done.returncode:
        reason = done.stderr.decode(errors='replace').split('\n')[-2:][0]
        if 'MemoryError' in reason:
            reason = f'reading it takes more than {memory / 1e6:.0f} MB of memory'
        raise ValueError(f'it is damaged: {reason or f"its reader ended by {-done.returncode}"}')
    with np.load(io.BytesIO(done.stdout), allow_pickle=False) as archive:
        names, *arrays = (archive[name] for name in archive.files)
    return dict(zip(names.tolist(), arrays, strict=True))


def print_mat() -> None:
    """Write the arrays of the MAT file in the command line to the standard output, as NPZ."""
    from scipy.io import loadmat

    content = loadmat(sys.argv[1], appendmat=False).items()
    arrays = dict(each for item in content for each in _arrays(*item))
    np.savez(sys.stdout.buffer, np.array([*arrays], dtype=str), *arrays.values())


def _arrays(name: str, value: Any) -> Arrays:
    """Yield numbers and texts of a variable; fields of a struct are named `struct.field`."""
    if not isinstance(value, np.ndarray):
        return
    if value.dtype.kind in 'fiubU':
        yield name, value
    elif value.dtype.names is not None and value.size == 1:
        for field in value.dtype.names:
            yield from _arrays(f'{name}.{field}', value.reshape(-1)[0][field])
    elif value.dtype.kind == 'O' and value.size:  # a cell array
        cells = [np.asarray(cell) for cell in value.reshape(-1)]
        if all(cell.size == 1 and cell.dtype.kind == 'U' for cell in cells):
            yield name, np.array([cell.item() for cell in cells])


def _of_hdf5(path: Path, units: dict[str, str]) -> Arrays:
    """Yield numbers and texts by their path; fields of a struct of MATLAB are `struct.field`.

    :param units: gets the attributes `unit` or `units` by name
    """
    import h5py

    items: dict[str, Any] = {}
    with h5py.File(path) as file:
        file.visititems(items.__setitem__)  # without links, which may lead nowhere
        check_bound(COLUMNS, len(items))
        mark = '.' if any('MATLAB_class' in item.attrs for item in items.values()) else '/'
        for key, item in items.items():
            kind = item.attrs.get('MATLAB_class')
            if isinstance(item, h5py.Group) or item.shape is None or kind in (b'char', b'cell'):
                continue
            check_expansion(item.nbytes, path.stat().st_size)
            name = key.replace('/', mark)
            text = item.attrs.get('unit', item.attrs.get('units', ''))
            text = text.decode(errors='replace') if isinstance(text, bytes) else text
            if isinstance(text, str) and text.strip():
                units[name] = unit_of(text) or text.strip()
            if h5py.check_string_dtype(item.dtype):
                yield name, np.atleast_1d(np.asarray(item.asstr()[()], dtype=str))
            elif item.dtype.kind in 'fiub' and 'MATLAB_empty' not in item.attrs:
                yield name, item[()].T if kind else item[()]
