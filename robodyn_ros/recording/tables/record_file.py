# SPDX-License-Identifier: Apache-2.0
"""Readers of records: JSON, the output of `ros2 topic echo`, and Parquet, also of LeRobot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from robodyn_ros.bounds import COLUMNS, LINE, check_bound, check_expansion, parse_json, read_text
from robodyn_ros.long_work import progress
from robodyn_ros.recording.tables.blocks import table_of_blocks
from robodyn_ros.recording.tables.table import Table, reading
from robodyn_ros.yaml_file import parse_yaml

RECORDS = 2**13
"""Records that are decoded at a time."""
STATE = 'observation.state'
"""Measured signals of LeRobot: positions, or several kinds; actions are commands."""


def read_json(path: Path) -> Table:
    """Read objects, one per line or in one array; fields of an object in one are named `a.b`.

    :raises RecordingError: it cannot be read
    """
    with reading(path, 'JSON'):
        return table_of_blocks(_frames(_json_records(path)), path)


def read_echo(path: Path) -> Table:
    """Read the messages that `ros2 topic echo` has printed, YAML with --- between them.

    :raises RecordingError: it cannot be read
    """
    with reading(path, 'output of ros2 topic echo'):
        texts = f'\n{read_text(path)}'.split('\n---')
        records = (parse_yaml(text) for text in texts if text.strip())
        return table_of_blocks(_frames(records), path)


def _json_records(path: Path) -> Iterator[Any]:
    size = path.stat().st_size or 1
    with path.open('rb') as file:
        if file.read(LINE.most).lstrip()[:1] == b'[':
            yield from msgspec.json.decode(read_text(path))
            return
        file.seek(0)
        while line := file.readline(LINE.most + 1):
            check_bound(LINE, len(line))
            if line.strip():
                yield msgspec.json.decode(line)
            progress(f'reading {path.name}', min(1.0, file.tell() / size))


def _frames(records: Iterator[Any]) -> Iterator[Any]:
    import pandas as pd  # slow to import

    while rows := [*islice(records, RECORDS)]:
        _check_names(rows)
        yield pd.json_normalize(rows)


def _check_names(rows: Sequence[Any], others: int = 0) -> int:
    """Check and return the number of names in objects, those of objects in them included."""
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError('expected objects with a value for each name')
    names = set().union(*rows)
    check_bound(COLUMNS, count := others + len(names))
    for name in names:
        inner = [row[name] for row in rows if isinstance(row.get(name), dict)]
        count = _check_names(inner, count) if inner else count
    return count


def read_parquet(path: Path) -> Table:
    """Read a Parquet file, or a LeRobot data set by its folder; of it also by one file.

    Fields of a struct are named `struct.field`. Columns of other types than numbers, times, texts
    and lists of numbers are refused if they are used.

    :raises RecordingError: it cannot be read
    """
    with reading(path, 'Parquet'):
        files = find_episodes(path) if path.is_dir() else [path]
        table = table_of_blocks(_batches(files), path)
        folder = path if path.is_dir() else next(islice(path.absolute().parents, 2, None), path)
        facts = folder / 'meta' / 'info.json'
        return _of_lerobot(table, facts) if facts.is_file() else table


def find_episodes(path: Path) -> list[Path]:
    """Return the files of a LeRobot data set; empty: the folder is none."""
    return sorted(path.glob('data/*/*.parquet')) if path.is_dir() else []


def _batches(files: list[Path]) -> Iterator[Any]:
    import pyarrow as pa  # slow to import
    from pyarrow import parquet

    for number, path in enumerate(files):
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
            facts, done = file.metadata, 0
            size = sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
            numbers = 8 * facts.num_rows * facts.num_columns
            check_expansion(max(size, numbers), path.stat().st_size)
            names = [name for name in file.schema_arrow.names if 'image' not in name]
            for batch in file.iter_batches(RECORDS, columns=names, use_threads=False):
                done += len(batch)
                share = min(1.0, done / max(facts.num_rows, 1))
                progress(f'reading {path.name}', (number + share) / len(files))
                yield pa.Table.from_batches([batch]).flatten().to_pandas(ignore_metadata=True)


def _of_lerobot(table: Table, file: Path) -> Table:
    """Return the table with the joints that a data set describes.

    A state may have several quantities of a joint: elbow.pos, elbow.vel.
    """
    names = parse_json(read_text(file)).get('features', {}).get(STATE, {}).get('names')
    names = next(iter(names.values()), None) if isinstance(names, dict) else names
    matrix = table.columns.get(STATE)
    if matrix is None or not isinstance(names, list) or matrix.shape[1:] != (len(names),):
        return table
    joints = tuple(str(name).removesuffix('.pos') for name in names)
    if not any('.' in joint for joint in joints):
        return replace(table, joints=joints)
    columns = {name: values for name, values in table.columns.items() if name != STATE}
    return replace(table, columns=columns | {str(n): matrix[:, k] for k, n in enumerate(names)})
