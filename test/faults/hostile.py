# SPDX-License-Identifier: Apache-2.0
"""Hand-made hostile files, each named by what it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from faults.hostile_bags import BAGS, METADATA_FILES, metadata
from faults.hostile_tables import TABLES
from faults.hostile_texts import PRGS, READERS, TRAJECTORIES, URDFS, YAML
from faults.makers import GB, Make, fifo, link, sparse, text


@dataclass(frozen=True)
class Hostile:
    """A file `name` that `make` writes, and the command that reads it (see `kinds.Kind`)."""

    kind: str
    name: str
    command: str
    make: Make


SPECIALS: dict[str, Make] = {
    'a FIFO': fifo,
    'a device': link('/dev/zero'),
    'a loop of links': link('loop'),
    'a folder': lambda path: (path.unlink(missing_ok=True), path.mkdir()),
    'a missing file': lambda path: path.unlink(missing_ok=True),
    'standard input': link('/dev/stdin'),
    '5 GB of nothing': sparse(5 * GB),
    'an empty file': text(b''),
}
"""Hostile content for files of any kind."""

FILES = {
    **READERS,
    'urdf': ('arm.urdf', 'motion motion_sine.yaml --urdf FILE'),
    'mesh': ('part.stl', 'motion motion_sine.yaml --urdf meshed.urdf'),
    'srdf': ('x.srdf', 'motion motion_sine.yaml --urdf arm.urdf --srdf FILE'),
    'prg': ('scara.PRG', 'prg FILE --model model_scara.yaml --out OUT/r.yaml'),
    'bodywise': ('x.csv', 'bodywise FILE'),
    **{
        f'{form} file': (f'x.{form}', 'check FILE')
        for form in ('csv', 'npz', 'mat', 'mcap', 'db3')
    },
    'topics': ('mcap/mcap.mcap', 'topics BAG'),
    'facts of a bag': ('x.mcap', 'bag-facts FILE'),
}
"""File and command by kind."""


def _all() -> Iterator[tuple[str, Hostile]]:
    for kind, (name, command) in READERS.items():
        for word, content in YAML.items():
            yield f'{kind}: {word}', Hostile(kind, name, command, text(content))
    for kind, (name, command) in FILES.items():
        for word, make in SPECIALS.items():
            yield f'{kind}: {word}', Hostile(kind, name, command, make)
    for word, (name, make) in (TABLES | BAGS).items():
        kind = name.partition('.')[2]
        yield f'{kind}: {word}', Hostile(kind, name, 'check FILE', make)
    yield from _texts()
    for word, paths in METADATA_FILES.items():
        for command in ('check BAG', 'topics BAG'):
            one = Hostile('metadata', 'mcap/metadata.yaml', command, metadata(paths))
            yield f'metadata: {word} ({command.split()[0]})', one


def _texts() -> Iterator[tuple[str, Hostile]]:
    for word, content in TRAJECTORIES.items():
        one = Hostile('trajectory', 'x.yaml', 'motion FILE --urdf arm.urdf', text(content))
        yield f'trajectory: {word}', one
    for word, urdf in URDFS.items():
        for command in ('motion motion_sine.yaml --urdf FILE', 'check table.csv --urdf FILE'):
            name = f'urdf: {word} ({command.split()[0]})'
            yield name, Hostile('urdf', 'x.urdf', command, text(urdf))
    for word, prg in PRGS.items():
        yield f'prg: {word}', Hostile('prg', *FILES['prg'], text(prg))


HOSTILE = dict(_all())
