# SPDX-License-Identifier: Apache-2.0
"""Reader of the messages of a rosbag2: a folder or one file, MCAP or sqlite3, damaged ones too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from robodyn_ros.bounds import FILES, check_bound, read_text
from robodyn_ros.errors import RecordingError
from robodyn_ros.long_work import CancelledError
from robodyn_ros.recording.bags.compression import decompress, decompress_file
from robodyn_ros.recording.bags.mcap import McapScan
from robodyn_ros.recording.bags.ros1 import Ros1Scan
from robodyn_ros.recording.bags.scan import Scan
from robodyn_ros.recording.bags.sqlite import SqliteScan
from robodyn_ros.recording.storage import temporary_folder
from robodyn_ros.yaml_file import parse_yaml

SCANS: dict[str, type[Scan]] = {'.mcap': McapScan, '.db3': SqliteScan, '.bag': Ros1Scan}
PACKED = ('.zstd', '.zst')
UNREADABLE = (
    OSError, yaml.YAMLError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError
)  # fmt: skip
"""Errors of a metadata.yaml that is missing, damaged or of another form."""


def is_rosbag(path: Path) -> bool:
    """Return True if a path looks like a rosbag2 folder or one of its files."""
    if path.is_dir():
        return (path / 'metadata.yaml').exists() or bool(bag_files(path))
    return _plain(path).suffix in SCANS


def _plain(path: Path) -> Path:
    """Return the name of a file without the suffix of its compression."""
    return path.with_suffix('') if path.suffix in PACKED else path


def bag_files(path: Path) -> list[Path]:
    """Return the storage files of a bag, in the order they were recorded."""
    if not path.is_dir():
        return [path]
    files = [file for file in path.iterdir() if _plain(file).suffix in ('.mcap', '.db3')]
    return sorted(files, key=lambda file: (len(file.name), file.name))


def folder_information(folder: Path) -> Any:
    """Return the content of a bag's metadata.yaml.

    Its content or form can be anything: handle the errors `UNREADABLE`.
    """
    return parse_yaml(read_text(folder / 'metadata.yaml'))['rosbag2_bagfile_information']


class BagScan(Scan):
    """Reader of the messages of one topic in all files of a bag."""

    _packed = False

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield time in the bag, in [ns], and bytes, in the order of recording."""
        for file in self._list_files():
            try:
                yield from self._scan_file(file)
            except (RecordingError, CancelledError, MemoryError):  # the file is not damaged
                raise
            except Exception as error:  # parsers may raise any exception for damaged bytes
                reason = ' '.join(str(error).split()).rstrip('.') or type(error).__name__
                self.damage.append(f'{file.name}: {reason}')
        if self.count < self.expected and not self.damage:
            self.damage.append(
                f'it holds {self.count} messages of the topic, and {self.expected} by '
                f'metadata.yaml'
            )

    def check(self) -> None:
        """Refuse a bag of which nothing could be read.

        :raises RecordingError: no topic was found
        """
        if not self.topics:
            what = '; '.join(self.damage) or 'it has no topics'
            raise RecordingError(f'{self.path}: the bag cannot be read: {what}')

    def _list_files(self) -> list[Path]:
        """Return the files of the bag, by metadata.yaml if possible."""
        if not self.path.is_dir():
            return [self.path]
        try:
            bag = folder_information(self.path)
            files = [self.path / Path(str(name)).name for name in bag['relative_file_paths']]
            self._packed = str(bag.get('compression_mode')).lower() == 'message'
            check_bound(FILES, len(files))
            missing = [file.name for file in files if not file.exists()]
            counts = [
                int(entry['message_count'])
                for entry in bag.get('topics_with_message_count') or ()
                if entry['topic_metadata']['name'] == self.topic
            ]
        except UNREADABLE as error:
            missing_file = isinstance(error, FileNotFoundError)
            self.damage.append(
                f'metadata.yaml {"is missing" if missing_file else "cannot be read"}'
            )
            return bag_files(self.path)
        self.damage += [f'{name} is missing' for name in missing]
        self.expected = sum(counts)
        return [file for file in files if file.name not in missing]

    def _scan_file(self, file: Path) -> Iterator[tuple[int, bytes]]:
        with ExitStack() as stack:
            plain = file
            if file.suffix in PACKED:
                plain = stack.enter_context(temporary_folder(file.stat().st_size)) / file.stem
                decompress_file(file, plain)
            scan = SCANS.get(plain.suffix, SqliteScan)(plain, self.topic, self.kinds)
            scan.topics, scan.definitions = self.topics, self.definitions
            scan.expected = self.expected
            try:
                if self._packed:
                    yield from ((time, decompress(data, 'zstd')) for time, data in scan.messages())
                else:
                    yield from scan.messages()
            finally:
                self.count += scan.count
                self.damage += [f'{file.name}: {text}' for text in scan.damage]
