# SPDX-License-Identifier: Apache-2.0
"""Program that reads a MAT file with scipy, whose reader can crash on damaged files.

`mat_process.py FILE FOLDER MEMORY SECONDS SIZE` writes each numeric or text variable to the folder
(0.npy, 1.npy, ...) and prints their names as JSON. It allows itself MEMORY bytes beside the
libraries, SECONDS of CPU time, and SIZE bytes in total. It imports nothing from this package, so
that it starts fast.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat, whosmat


def main(path: str, folder: str, memory: str, seconds: str, size: str) -> None:
    """Read the file.

    :raises SystemExit: with one sentence, if it cannot be read
    """
    with Path('/proc/self/statm').open() as status:
        used = int(status.read().split()[0]) * resource.getpagesize()
    limits = {resource.RLIMIT_AS: used + int(memory), resource.RLIMIT_CPU: int(seconds)}
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, hard))
    try:
        print(json.dumps(_written(path, Path(folder), int(size))))
    except NotImplementedError:
        sys.exit('MAT version 7.3 (HDF5) cannot be read; save it in MATLAB with -v7')
    except MemoryError:
        sys.exit(f'a variable needs more than {int(memory) / 1e6:.0f} MB of memory')
    except Exception as error:
        sys.exit(' '.join(str(error).split()) or type(error).__name__)


def _written(path: str, folder: Path, size: int) -> list[str]:
    """Write the arrays one by one, so that only the largest must fit into memory."""
    names: list[str] = []
    for variable, *_ in whosmat(path, appendmat=False):
        if variable.startswith('__'):
            continue
        content = loadmat(path, appendmat=False, variable_names=[variable]).get(variable)
        for name, value in _arrays(variable, content):
            size -= value.nbytes
            if size < 0:
                raise ValueError('it expands to far more than its size')
            np.save(folder / f'{len(names)}.npy', value, allow_pickle=False)
            names.append(name)
    return names


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


if __name__ == '__main__':
    main(*sys.argv[1:])
