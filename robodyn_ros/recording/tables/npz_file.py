# SPDX-License-Identifier: Apache-2.0
"""Reader of NPZ archives of numpy arrays (never of pickled objects)."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from robodyn_ros.bounds import COLUMNS, check_bound, check_expansion
from robodyn_ros.recording.tables.table import Table, reading, table_of


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
