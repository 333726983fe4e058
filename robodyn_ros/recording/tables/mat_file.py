# SPDX-License-Identifier: Apache-2.0
"""Reader of MATLAB files and of HDF5, of which version 7.3 of the former is made."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from robodyn_ros.bounds import MAT_MEMORY, MAT_TIME
from robodyn_ros.recording.storage import temporary_folder
from robodyn_ros.recording.tables.table import Table, reading, table_of

READER = Path(__file__).with_name('mat_process.py')


def read_mat(path: Path) -> Table:
    """Read all numeric variables; fields of a struct are named `struct.field`, of HDF5 by path.

    scipy and h5py read them in another process: of files with a few random wrong bytes, one in
    300 ends it with a signal.

    :raises RecordingError: it is neither, or is damaged
    """
    with (
        reading(path, 'MAT' if path.suffix.lower() == '.mat' else 'HDF5'),
        temporary_folder(path.stat().st_size) as folder,
    ):
        file = folder / 'arrays.npz'
        names = _names(path, file)
        with np.load(file, allow_pickle=False) as archive:
            return table_of(
                ((name, archive[f'arr_{index}']) for index, name in enumerate(names)), path
            )


def _names(path: Path, target: Path) -> list[str]:
    """Let another process read the variables; return their names."""
    memory = MAT_MEMORY.most + 8 * path.stat().st_size
    try:
        done = subprocess.run(
            [sys.executable, str(READER), str(path), str(target), str(memory)],
            capture_output=True,
            text=True,
            env=os.environ | {'OPENBLAS_NUM_THREADS': '1'},
            timeout=MAT_TIME.most,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(f'reading it takes more than {MAT_TIME.most} s') from error
    if done.returncode == 0:
        names: list[str] = json.loads(done.stdout)
        return names
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise ValueError(f'it is damaged: its reader ended with {name}')
    raise ValueError((done.stderr.strip().splitlines() or ['it is damaged'])[-1])
