# SPDX-License-Identifier: Apache-2.0
"""Formats of tables by the endings of their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from robodyn_ros.recording.tables.array_file import read_mat, read_npz
from robodyn_ros.recording.tables.csv_file import read_csv
from robodyn_ros.recording.tables.record_file import (
    find_episodes,
    read_echo,
    read_json,
    read_parquet,
)
from robodyn_ros.recording.tables.table import Table


class Format(NamedTuple):
    """A format: endings of its files, what is read, by which library, and the reader."""

    name: str
    endings: tuple[str, ...]
    what: str
    library: str
    read: Callable[[Path], Table]


FORMATS = (
    Format('CSV', ('.csv', '.txt', '.tsv', '.dat'), 'any delimiter, decimal comma, preamble, '
           'several header rows or none, units in the header, lists in cells, ISO 8601 times; '
           '`ros2 topic echo --csv`', 'pandas', read_csv),
    Format('JSON', ('.jsonl', '.ndjson', '.json'), 'one object per line, or an array of them',
           'msgspec, pandas', read_json),
    Format('YAML', ('.yaml', '.yml'), 'the output of `ros2 topic echo`', 'PyYAML', read_echo),
    Format('Parquet', ('.parquet', '.pq'), 'numbers, lists and structs; LeRobot data sets by '
           'their folder, episodes one after the other', 'pyarrow', read_parquet),
    Format('NPZ', ('.npz',), 'arrays by name', 'numpy', read_npz),
    Format('MAT', ('.mat',), 'variables and structs; also v7.3',
           'scipy, h5py', read_mat),
    Format('HDF5', ('.hdf5', '.h5'), 'data sets by their path', 'h5py', read_mat),
)  # fmt: skip
CONVERT = {
    '.xlsx': "python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('FILE.csv')\"",
    '.gz': 'gunzip FILE',
    '.zip': 'unzip FILE',
}
"""Commands that convert a file of an ending that is not read."""


def format_of(path: Path) -> Format | None:
    """Return the format of a table by the name of its file; None: it is none."""
    ending = path.suffix.lower() if path.is_file() else '.pq' if find_episodes(path) else '?'
    if ending in ('.yaml', '.yml'):
        with path.open('rb') as file:  # of a message: other YAML is no recording
            ending = ending if file.read(7) == b'header:' else '?'
    return next((each for each in FORMATS if ending in each.endings), None)
