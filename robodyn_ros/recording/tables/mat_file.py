# SPDX-License-Identifier: Apache-2.0
"""Reader of MATLAB files up to version 7."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from robodyn_ros.bounds import EXPANSION, MAT_MEMORY, MAT_TIME, RECORD
from robodyn_ros.recording import storage
from robodyn_ros.recording.tables.table import Table, reading, table_of

READER = Path(__file__).with_name('mat_process.py')
"""Program that reads the file; to import it here would cost nodes 0.1 s or more of scipy.io."""


def read_mat(path: Path) -> Table:
    """Read all numeric variables; fields of a struct are named `struct.field`.

    scipy reads them in another process, because damaged files can crash it.

    :raises RecordingError: it is not a MAT file, is damaged, or has version 7.3 (HDF5)
    """
    with reading(path, 'MAT'), storage.temporary_folder(path.stat().st_size) as folder:
        names = _names(path, folder)
        arrays = {}
        for index, name in enumerate(names):
            file = folder / f'{index}.npy'
            large = file.stat().st_size > storage.KEPT
            arrays[name] = np.load(file, mmap_mode='r' if large else None)
    return table_of(arrays, path)


def _names(path: Path, folder: Path) -> list[str]:
    """Let another process read the variables; return their names."""
    size = path.stat().st_size
    limits = MAT_MEMORY.most + 8 * size, MAT_TIME.most, max(RECORD.most, EXPANSION.most * size)
    done = subprocess.run(
        [sys.executable, *map(str, (READER, path, folder, *limits))],
        capture_output=True,
        text=True,
        env=os.environ | {'OPENBLAS_NUM_THREADS': '1'},
    )
    if done.returncode == 0:
        names: list[str] = json.loads(done.stdout)
        return names
    reason = (done.stderr.strip().splitlines() or ['it is damaged'])[-1]
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        reason = f'it is damaged: its reader ended with {name}'
    raise ValueError(reason)
