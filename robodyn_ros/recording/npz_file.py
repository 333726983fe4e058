"""Read NPZ archives of numpy arrays (never pickled objects)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.table import Table, joint_names


def read_npz(path: Path) -> Table:
    """Read all numeric arrays of an archive; `joint_names` (text) names the joints.

    :raises RecordingError: it is no NPZ archive, is damaged, or holds pickled objects
    """
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise RecordingError(f'{path}: expected an NPZ archive, got a single array')
        with archive:
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
    except RecordingError:
        raise
    except Exception as error:  # a parser fed with damaged bytes may raise anything
        raise RecordingError(f'{path}: it cannot be read as NPZ: {error}') from error
    numeric = {name: values for name, values in arrays.items() if values.dtype.kind in 'fiub'}
    return Table(numeric, source=str(path), joints=joint_names(arrays))
