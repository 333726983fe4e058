# SPDX-License-Identifier: Apache-2.0
"""Program that reads a MAT file with scipy, whose reader can crash on damaged files.

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
        content = loadmat(path, appendmat=False)
        arrays = [each for name in content for each in _arrays(name, content[name])]
        np.savez(target, *(value for _, value in arrays))
        print(json.dumps([name for name, _ in arrays]))
    except NotImplementedError:
        sys.exit('MAT version 7.3 (HDF5) cannot be read; save it in MATLAB with -v7')
    except MemoryError:
        sys.exit(f'its variables need more than {int(memory) / 1e6:.0f} MB of memory')
    except Exception as error:
        sys.exit(' '.join(str(error).split()) or type(error).__name__)


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
