# SPDX-License-Identifier: Apache-2.0
"""Hand-made hostile files, each named by what it does, and the command that reads it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from faults.hostile_files import GB, HOSTILE_FILES, Content, sparse
from faults.hostile_texts import METADATA, PRGS, READERS, TRAJECTORIES, URDFS, YAML


@dataclass(frozen=True)
class Hostile:
    """A hostile file `name`, and the command that reads it (see `kinds.Kind`)."""

    kind: str
    name: str
    command: str
    content: Content

    def write(self, path: Path) -> None:
        """Write the file; a function gets the place without a file."""
        path.unlink(missing_ok=True)
        if callable(self.content):
            self.content(path)
        else:
            data = self.content
            path.write_bytes(data.encode() if isinstance(data, str) else data)


SPECIALS: dict[str, Content] = {
    'a FIFO': os.mkfifo,
    'a device': lambda path: path.symlink_to('/dev/zero'),
    'a loop of links': lambda path: path.symlink_to('loop'),
    'a folder': Path.mkdir,
    'a missing file': lambda path: None,
    'standard input': lambda path: path.symlink_to('/dev/stdin'),
    '5 GB of nothing': sparse(5 * GB),
    'an empty file': b'',
}
"""Hostile content for files of any kind."""

FILES = {
    **READERS,
    'urdf': ('arm.urdf', 'motion motion_sine.yaml --urdf FILE'),
    'mesh': ('part.stl', 'motion motion_sine.yaml --urdf meshed.urdf'),
    'srdf': ('x.srdf', 'motion motion_sine.yaml --urdf arm.urdf --srdf FILE'),
    'prg': ('scara.PRG', 'prg FILE --model model_scara.yaml --out OUT/r.yaml'),
    'bodywise': ('x.csv', 'bodywise FILE'),
    **{f'{form} file': (f'x.{form}', 'check FILE') for form in HOSTILE_FILES},
    'topics': ('mcap/mcap.mcap', 'topics BAG'),
    'facts of a bag': ('x.mcap', 'bag-facts FILE'),
}
"""File and command by kind."""


def _metadata(paths: object) -> str:
    content = {
        'version': 9, 'storage_identifier': 'mcap', 'relative_file_paths': paths,
        'duration': {'nanoseconds': 1}, 'starting_time': {'nanoseconds_since_epoch': 1},
        'message_count': 1, 'topics_with_message_count': [], 'compression_format': '',
        'compression_mode': '',
    }  # fmt: skip
    return yaml.safe_dump({'rosbag2_bagfile_information': content})


def _all() -> Iterator[tuple[str, Hostile]]:
    """Yield each content for each command that reads it."""
    contents = {
        **{kind: (*file, SPECIALS) for kind, file in FILES.items()},
        **{f'{kind} as YAML': (*file, YAML) for kind, file in READERS.items()},
        **{form: (f'x.{form}', 'check FILE', each) for form, each in HOSTILE_FILES.items()},
        'motion': ('x.yaml', 'motion FILE --urdf arm.urdf', TRAJECTORIES),
        'urdf of a motion': ('x.urdf', 'motion motion_sine.yaml --urdf FILE', URDFS),
        'urdf of a check': ('x.urdf', 'check table.csv --urdf FILE', URDFS),
        'prg text': (*FILES['prg'], PRGS),
    }
    files = {word: _metadata(paths) for word, paths in METADATA.items()}
    contents['files of a bag'] = ('mcap/metadata.yaml', 'check BAG', files)
    contents['files of topics'] = ('mcap/metadata.yaml', 'topics BAG', files)
    for kind, (name, command, table) in contents.items():
        for word, content in table.items():
            yield f'{kind}: {word}', Hostile(kind, name, command, content)


HOSTILE = dict(_all())
