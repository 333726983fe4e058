# SPDX-License-Identifier: Apache-2.0
"""Readers of records: JSON, the output of `ros2 topic echo`, and Parquet, also of LeRobot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from numpy.typing import NDArray

from robodyn_ros.bounds import LINE, check_bound, check_expansion, parse_json, read_text
from robodyn_ros.long_work import progress
from robodyn_ros.recording.tables.blocks import Block, table_of_blocks
from robodyn_ros.recording.tables.table import Table, reading
from robodyn_ros.yaml_file import parse_yaml

RECORDS = 2**13
"""Records that are decoded at a time."""
STATES = {'observation.state': 'position', 'observation.velocity': 'velocity',
          'observation.effort': 'torque', 'observation.torque': 'torque'}  # fmt: skip
"""Measured signals of LeRobot; actions are commands."""


def read_json(path: Path) -> Table:
    """Read objects, one per line or in a list; fields of an object in one are named `a.b`.

    :raises RecordingError: it cannot be read
    """
    with reading(path, 'JSON'):
        return table_of_blocks(_blocks(_json_records(path)), path)


def read_echo(path: Path) -> Table:
    """Read the messages that `ros2 topic echo` has printed, YAML with --- between them.

    :raises RecordingError: it cannot be read
    """
    with reading(path, 'output of ros2 topic echo'):
        texts = f'\n{read_text(path)}'.split('\n---')
        records = (parse_yaml(text) for text in texts if text.strip())
        return table_of_blocks(_blocks(records), path)


def _json_records(path: Path) -> Iterator[Any]:
    size = path.stat().st_size or 1
    with path.open('rb') as file:
        while line := file.readline(LINE.most + 1):
            check_bound(LINE, len(line))
            if line.strip():
                yield msgspec.json.decode(line)
            progress(f'reading {path.name}', min(1.0, file.tell() / size))


def _blocks(records: Iterator[Any]) -> Iterator[Block]:
    """Yield the records as columns; fields of an object in one are named `a.b`."""
    import pandas as pd  # slow to import

    while rows := [*islice(records, RECORDS)]:
        frame = pd.json_normalize(rows)
        yield {str(name): values.to_numpy() for name, values in frame.items()}


def read_parquet(path: Path) -> Table:
    """Read a Parquet file, or a LeRobot data set by its folder; of it also by one file.

    Fields of a struct are named `struct.field`. Columns of other types than numbers, times, texts
    and lists of numbers are ignored.

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


def _batches(files: list[Path]) -> Iterator[Block]:
    from pyarrow import parquet  # slow to import

    for number, path in enumerate(files):
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
            facts = file.metadata
            size = sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
            numbers = 8 * facts.num_rows * facts.num_columns
            check_expansion(max(size, numbers), path.stat().st_size)
            names = [name for name in file.schema_arrow.names if 'image' not in name]
            done = 0
            for batch in file.iter_batches(RECORDS, columns=names, use_threads=False):
                done += len(batch)
                share = min(1.0, done / max(facts.num_rows, 1))
                progress(f'reading {path.name}', (number + share) / len(files))
                pairs = zip(batch.schema.names, batch.columns, strict=True)
                yield dict(each for name, array in pairs for each in _arrays(name, array))


def _arrays(name: str, array: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield a column of pyarrow as arrays; its lists of one length as a matrix."""
    from pyarrow import compute, types

    kind = array.type
    if types.is_struct(kind):
        for field, part in zip(kind, array.flatten(), strict=True):
            yield from _arrays(f'{name}.{field.name}', part)
        return
    if kind.num_fields == 1 and types.is_primitive(kind.value_type) and not array.null_count:
        ends = compute.min_max(compute.list_value_length(array)).as_py()
        if ends['min'] and ends['min'] == ends['max']:
            yield name, array.flatten().to_numpy(zero_copy_only=False).reshape(len(array), -1)
            return
    yield name, array.to_numpy(zero_copy_only=False)


def _of_lerobot(table: Table, file: Path) -> Table:
    """Return the table with the measured signals and joints that a data set describes."""
    features = parse_json(read_text(file)).get('features', {})
    columns, aliases = dict(table.columns), {}
    for name, signal in STATES.items():
        names = features.get(name, {}).get('names')
        names = next(iter(names.values()), None) if isinstance(names, Mapping) else names
        if name not in columns:
            continue
        matrix = columns[name]
        if not isinstance(names, list) or matrix.shape[1:] != (len(names),):
            columns[signal] = columns.pop(name)
            aliases[name] = signal
            continue
        for k, joint in enumerate(map(str, names)):  # a state may have several: elbow.pos, .vel
            several = '.' in joint and signal == 'position'
            column = joint if several else f'{signal}_{joint.partition(".")[0]}'
            columns[column] = matrix[:, k]
    return replace(table, columns=columns, aliases=aliases)
