# SPDX-License-Identifier: Apache-2.0
"""Formats of tables by the endings of their files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from robodyn_ros.recording.tables.csv_file import read_csv
from robodyn_ros.recording.tables.mat_file import read_mat
from robodyn_ros.recording.tables.npz_file import read_npz
from robodyn_ros.recording.tables.record_file import (
    lerobot_files,
    read_echo,
    read_json,
    read_parquet,
)
from robodyn_ros.recording.tables.table import Table


@dataclass(frozen=True)
class Format:
    """A format of files.

    :param endings: of names of files, in lower case
    :param what: content that is read, for the documentation
    :param library: that reads it
    """

    name: str
    endings: tuple[str, ...]
    what: str
    library: str
    read: Callable[[Path], Table]


FORMATS = (
    Format('CSV', ('.csv', '.txt', '.tsv', '.dat'), 'any delimiter, decimal comma, preamble, '
           'several header rows or none, units in the header, lists in cells, ISO 8601 times; '
           '`ros2 topic echo --csv`', 'pandas', read_csv),
    Format('JSON', ('.jsonl', '.ndjson', '.json'), 'one object per line, or a list of objects',
           'msgspec', read_json),
    Format('ROS 2 echo', ('.yaml', '.yml'), 'the output of `ros2 topic echo`', 'PyYAML',
           read_echo),
    Format('Parquet', ('.parquet', '.pq'), 'numbers, lists and structs; LeRobot data sets by '
           'their folder, episodes one after the other', 'pyarrow', read_parquet),
    Format('NPZ', ('.npz',), 'arrays by name', 'numpy', read_npz),
    Format('MAT', ('.mat',), 'variables, structs, cell arrays of names; up to v7 and v7.3',
           'scipy, h5py', read_mat),
    Format('HDF5', ('.h5', '.hdf5', '.hdf'), 'data sets by their path', 'h5py', read_mat),
)  # fmt: skip
ENDINGS = ', '.join(ending for each in FORMATS for ending in each.endings[:1])
"""Usual endings, for messages."""
CONVERT = {
    '.xlsx': "python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('FILE.csv')\"",
    '.tdms': "python3 -c \"from nptdms import TdmsFile; TdmsFile.read('FILE').as_dataframe()"
    ".to_csv('FILE.csv')\"",
    '.gz': 'gunzip FILE',
    '.zip': 'unzip FILE',
}
"""Commands that convert a file of an ending that is not read."""


def format_of(path: Path) -> Format | None:
    """Return the format of a table by the name of its file; None: it is none."""
    ending = '.parquet' if lerobot_files(path) else path.suffix.lower()
    if ending != '.parquet' and not path.is_file():
        return None
    return next((each for each in FORMATS if ending in each.endings), None)
