# SPDX-License-Identifier: Apache-2.0
"""Bounds of the files that the suite reads, checked before memory or time is spent.

Every bound is far above what robots and recordings need. A file beyond one is refused with a
sentence. `docs/reference/limits.md` is made from this table.
"""

from __future__ import annotations

import json
import os
import stat
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn_ros.errors import RobodynError


@dataclass(frozen=True)
class Bound:
    """Largest number of something in a file, with its unit, meaning and reason."""

    most: int
    unit: str
    what: str
    why: str


TEXT = Bound(
    32 * 2**20, 'bytes', 'size of a text file: YAML, URDF, SRDF, planning scene',
    'it is in memory several times while it is parsed',
)  # fmt: skip
PRG = Bound(2**20, 'bytes', 'size of a .PRG file', 'all its lines are in memory')
GEAR_NUMBERS = Bound(
    2000, 'numbers', 'torque of gear deflection in a result file, for each joint',
    'a cycle of the feed-forward computes with all of them',
)  # fmt: skip
YAML_DEPTH = Bound(
    100, 'levels', 'nesting of YAML',
    'PyYAML composes by recursion in C, which ends the process at about 10 000 levels',
)  # fmt: skip
YAML_VALUES = Bound(
    300_000, 'values', 'values of a YAML file, repetitions by aliases included',
    'reading them takes 4 s',
)  # fmt: skip
YAML_INTEGER = Bound(
    2**63 - 1, '', 'integers in YAML, either sign', 'ROS parameters and numpy have 64 bits',
)  # fmt: skip
XML_DEPTH = Bound(100, 'levels', 'nesting of XML', 'Python writes XML by recursion')
XML_ELEMENTS = Bound(
    50_000, 'elements', 'elements of a URDF or SRDF', 'a link with its joint has about 20',
)  # fmt: skip
JOINTS = Bound(
    200, 'joints', 'joints of a URDF or message', 'memory and time grow with their square',
)  # fmt: skip
JOINT_LISTS = Bound(
    1000, 'lists', 'different lists of joints in the messages of a topic', 'each is a table',
)  # fmt: skip
TERMS = Bound(1000, 'terms', 'terms of a series of a joint', 'a sample computes all of them')
LINE = Bound(16 * 2**20, 'characters', 'a line of a CSV file', 'a row is in memory completely')
COLUMNS = Bound(
    5000, 'columns', 'columns of a CSV file, arrays of an NPZ file', 'each is an array',
)  # fmt: skip
NAME = Bound(
    1000, 'characters', 'name of a column', 'the time to recognise it grows with its square'
)
FILES = Bound(1000, 'files', 'files of a bag', 'each is opened and checked')
RECORD = Bound(
    256 * 2**20, 'bytes', 'a record, chunk or message of a bag',
    'it is in memory completely; rosbag2 writes chunks of 0.8 MB',
)  # fmt: skip
EXPANSION = Bound(
    200, 'times', 'decompressed size of a file, relative to its size, if it is above 256 MiB',
    'signals of a robot shrink far less, zeros by a factor of 1000',
)  # fmt: skip
MAT_MEMORY = Bound(
    1024 * 2**20, 'bytes', 'memory of the process that reads a MAT file, beside 8 times its size',
    'a variable and its copy are in memory; a damaged size would take all',
)  # fmt: skip
MAT_TIME = Bound(60, 's', 'time to read a MAT file', 'a damaged file may never end')
XACRO_MEMORY = Bound(
    1024 * 2**20, 'bytes', 'memory of the process that expands a xacro file',
    'its expressions and macros can take all; that of a robot takes 0.1 GB',
)  # fmt: skip
NUMBER = Bound(
    10**15, '', 'numbers of a recording or motion, in SI units',
    'a double resolves 0.1 there: it is no measurement; squares of far larger ones overflow',
)  # fmt: skip
GEOMETRY = Bound(
    100_000, 'm', 'coordinates of collision geometry',
    'far larger ones let the library for collisions crash',
)  # fmt: skip
MESH = Bound(
    128 * 2**20, 'bytes', 'size of a mesh file of a URDF',
    'it is in memory completely before a check',
)  # fmt: skip
SCENE = Bound(
    1000, 'shapes', 'shapes of a planning scene', 'the distance of each to every link is computed',
)  # fmt: skip
MOTION = Bound(
    8_000_000, 'values', 'samples of a motion at 1 kHz, times its joints',
    'checks compute all of them: 22 minutes of 6 joints',
)  # fmt: skip
PLAN = Bound(
    2_000_000, 'values', 'samples of a trajectory that gets torque, times its joints',
    'the torque of all is computed before it is sent: 11 minutes of 6 joints at 500 Hz',
)  # fmt: skip

MESSAGE = Bound(
    8 * 2**20, 'bytes', 'message with a trajectory to a controller',
    'a stop waits while it is published, 1.5 ms for each MB',
)  # fmt: skip
MIXED_POINTS = Bound(
    1000, 'points', 'points of a trajectory that do not all give positions and the same others',
    'a stop waits while rclpy reads them, 10 us for each',
)  # fmt: skip


class BoundError(RobodynError, OSError):
    """A file exceeds a bound, or is no regular file; readers report it like a missing file."""


def check_bound(bound: Bound, value: float, where: str = '') -> None:
    """Check a number against a bound.

    :raises BoundError: it is larger
    """
    if not value <= bound.most:
        start = f'{where}: ' if where else ''
        raise BoundError(
            f'{start}{bound.what}: at most {bound.most} {bound.unit}'.rstrip() + f', got {value:g}'
        )


def check_expansion(decompressed: float, size: float) -> None:
    """Check the decompressed size of a file against its size, both in [bytes].

    :raises BoundError: it is far larger
    """
    if decompressed > max(RECORD.most, EXPANSION.most * size):
        raise BoundError(
            f'it has more than {decompressed / 1e6:.0f} MB in {size / 1e6:.3g} MB, at most '
            f'{EXPANSION.most} times its size are decompressed'
        )


def check_regular(path: str | Path) -> None:
    """Refuse devices, pipes, sockets and files of the kernel, which may never end.

    :raises OSError: it is one of these, or does not exist
    """
    status = Path(path).stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise BoundError('it is a device, pipe or socket, expected a regular file')
    # such as /proc/kmsg: it states no size, and its file system has no blocks
    if stat.S_ISREG(status.st_mode) and not status.st_size and not os.statvfs(path).f_blocks:
        raise BoundError('it is a file of the kernel, expected one on a disk')


def read_text(path: str | Path, bound: Bound = TEXT) -> str:
    """Read a text file in UTF-8.

    :raises OSError: it cannot be read, is too large, or is no regular file
    :raises UnicodeDecodeError: it is not UTF-8
    """
    check_regular(path)
    data = bytearray()
    with Path(path).open('rb') as file:
        # in blocks: `read` of the bound would take its memory for every small file
        while block := file.read(2**20):
            data += block
            check_bound(bound, len(data))
    return data.decode('utf-8')


def parse_xml(text: str) -> ET.Element:
    """Parse XML text.

    :raises ET.ParseError: it is not well-formed, too deeply nested, or has too many elements
    """
    parser: Any = ET.XMLPullParser(('start', 'end'))
    root: ET.Element | None = None
    depth = count = 0
    try:
        for at in range(0, len(text), 2**16):
            parser.feed(text[at : at + 2**16])
            for event, element in parser.read_events():
                root = element if root is None else root
                depth += 1 if event == 'start' else -1
                count += event == 'start'
                check_bound(XML_DEPTH, depth)
                check_bound(XML_ELEMENTS, count)
        parser.close()
    except (BoundError, ValueError, LookupError) as error:  # the last two: its encoding
        raise ET.ParseError(str(error)) from error
    assert root is not None  # close() raises without an element
    return root


def parse_json(text: str) -> Any:
    """Parse JSON; the parser recurses, so that its nesting is bounded by Python.

    :raises ValueError: it is no JSON, or too deeply nested
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError('the JSON is too deeply nested') from error
