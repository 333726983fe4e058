# SPDX-License-Identifier: Apache-2.0
"""Program that reads MAT files with scipy, HDF5 with h5py, which can crash on damaged files.

`mat_process.py FILE TARGET MEMORY` writes the numeric and text variables to TARGET (NPZ) and
prints their names as JSON. It allows itself MEMORY bytes in addition to the libraries.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy.io import loadmat


def main(path: str, target: str, memory: str) -> None:
    """Read the file.

    :raises SystemExit: with one sentence, if it cannot be read
    """
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + int(memory), resource.RLIM_INFINITY)
    )
    try:
        arrays = [*(_of_hdf5(path) if h5py.is_hdf5(path) else _of_mat(path))]
        np.savez(target, *(value for _, value in arrays))
        print(json.dumps([name for name, _ in arrays]))
    except NotImplementedError:
        sys.exit('it is a MAT file of version 7.3, but its HDF5 part is damaged')
    except MemoryError:
        sys.exit(f'its variables need more than {int(memory) / 1e6:.0f} MB of memory')
    except Exception as error:
        sys.exit(' '.join(str(error).split()) or type(error).__name__)


def _of_mat(path: str) -> Iterator[tuple[str, Any]]:
    for name, value in loadmat(path, appendmat=False).items():
        yield from _arrays(name, value)


def _arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
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


def _of_hdf5(path: str) -> Iterator[tuple[str, Any]]:
    """Yield numbers and texts by their path; fields of a struct of MATLAB are `struct.field`."""
    items: dict[str, Any] = {}
    with h5py.File(path) as file:
        file.visititems(items.__setitem__)
        mark = '.' if any('MATLAB_class' in item.attrs for item in file.values()) else '/'
        for key, item in items.items():
            kind = item.attrs.get('MATLAB_class')
            if isinstance(item, h5py.Group) or item.shape is None or kind in (b'char', b'cell'):
                continue
            name = key.replace('/', mark)
            if h5py.check_string_dtype(item.dtype):
                yield name, np.atleast_1d(np.asarray(item.asstr()[()], dtype=str))
            elif item.dtype.kind in 'fiub' and 'MATLAB_empty' not in item.attrs:
                yield name, item[()].T if kind else item[()]


if __name__ == '__main__':
    main(*sys.argv[1:])
