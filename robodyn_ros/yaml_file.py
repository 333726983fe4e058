# SPDX-License-Identifier: Apache-2.0
"""Reader of YAML files."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from robodyn_ros import bounds
from robodyn_ros.bounds import (
    YAML_DEPTH,
    YAML_INTEGER,
    YAML_VALUES,
    BoundError,
    check_bound,
)
from robodyn_ros.errors import RobodynError

_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_DUMPER = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)
ANGLES = ('!degrees', '!radians')
"""Tags of angles that xacro knows too."""


class LOADER(_LOADER):  # type: ignore[misc, valid-type]
    """Loader of plain data, in C where PyYAML has it, with integers of 64 bits."""

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Return an integer.

        :raises BoundError: it has more than 64 bits
        """
        value: int = super().construct_yaml_int(node) if len(node.value) < 100 else 2**64
        check_bound(YAML_INTEGER, max(value, ~value), f'line {node.start_mark.line + 1}')
        return value

    def construct_angle(self, node: yaml.Node) -> float:
        """Return an angle in [rad] with a tag of xacro, as in joint limits of robot makers."""
        value = float(self.construct_scalar(node))
        return math.radians(value) if node.tag == '!degrees' else value


class DUMPER(_DUMPER):  # type: ignore[misc, valid-type]
    """Dumper of plain data, in C where PyYAML has it: a tenth of the time."""


for _each in (LOADER, DUMPER):  # 1e-6 is a text to PyYAML, and a number to YAML 1.2 and to ROS
    _each.add_implicit_resolver(
        'tag:yaml.org,2002:float', re.compile(r'[-+]?\d+[eE][-+]?\d+$', re.ASCII), '+-0123456789'
    )
LOADER.add_constructor('tag:yaml.org,2002:int', LOADER.construct_yaml_int)
for _tag in ANGLES:
    LOADER.add_constructor(_tag, LOADER.construct_angle)


class TooLargeError(yaml.YAMLError):
    """YAML text that is too deeply nested or too long to be read."""


class RepeatedKeyError(yaml.YAMLError):
    """A mapping with a key twice: PyYAML would keep the last one."""


def read_yaml(path: str | Path, what: str, error: type[RobodynError]) -> Any:
    """Read a YAML file of plain data.

    :param what: name of the file in messages, such as 'the model file'
    :raises RobodynError: of class `error`: it cannot be read or is no YAML
    """
    try:
        return parse_yaml(read_text(path, what, error))
    except yaml.YAMLError as reason:
        raise error(f'{what} {path} cannot be read: {reason}') from reason


def read_text(path: str | Path, what: str, error: type[RobodynError]) -> str:
    """Read a text file in UTF-8; parameters and errors as of `read_yaml`."""
    try:
        return bounds.read_text(path)
    except (OSError, ValueError) as reason:
        why = getattr(reason, 'strerror', None) or reason  # without the path once more
        raise error(f'{what} {path} cannot be read: {why}') from reason


def parse_yaml(text: str) -> Any:
    """Parse YAML text of plain data.

    :raises yaml.YAMLError: it is no YAML, too deeply nested or too long; the message is one line
    """
    try:
        check_yaml(text)
        return yaml.load(text, Loader=LOADER)
    except (TooLargeError, RepeatedKeyError):
        raise
    except BoundError as reason:
        raise TooLargeError(str(reason)) from reason
    except Exception as reason:  # constructors raise other errors too, for `!!bool x`
        raise yaml.YAMLError(reason_of(reason)) from reason


def reason_of(error: Exception) -> str:
    """Return why a text cannot be read as YAML, on one line; never a line of the text."""
    if isinstance(error, TooLargeError | RepeatedKeyError):
        return str(error)
    if not isinstance(error, yaml.YAMLError):
        return f'it is no YAML: a value does not fit its tag ({type(error).__name__})'
    if not isinstance(error, yaml.MarkedYAMLError):
        return f'it is no YAML: {" ".join(str(error).split())}'
    mark = error.problem_mark or error.context_mark
    place = f'line {mark.line + 1}, column {mark.column + 1}: ' if mark else ''
    said = ', '.join(text[:80] for text in (error.context, error.problem) if text)
    return f'it is no YAML: {place}{said}'


def check_yaml(text: str) -> None:
    """Check that a YAML text can be read safely, in a time proportional to its length.

    :raises TooLargeError: it exceeds YAML_DEPTH or YAML_VALUES, or a value contains itself
    :raises RepeatedKeyError: a mapping has a key twice
    :raises yaml.YAMLError: it is no YAML
    """
    sizes: dict[str, int] = {}
    open_nodes: list[_Open] = []
    total = 0
    try:
        for event in yaml.parse(text, Loader=LOADER):
            if open_nodes and isinstance(event, yaml.NodeEvent):
                open_nodes[-1].take(event)
            if isinstance(event, yaml.CollectionStartEvent):
                open_nodes.append(_Open(event, total))
                check_bound(YAML_DEPTH, len(open_nodes), f'line {open_nodes[-1].line}')
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = open_nodes.pop()
                sizes[closed.anchor] = total - closed.begin
            elif isinstance(event, yaml.AliasEvent):
                if any(event.anchor == opened.anchor for opened in open_nodes):
                    raise BoundError(f'the value &{event.anchor:.40} contains itself')
                total += sizes.get(event.anchor or '', 0)
            total += 1
            if total > YAML_VALUES.most:
                check_bound(YAML_VALUES, total)
    except BoundError as reason:
        raise TooLargeError(str(reason)) from reason


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


class _Open:
    """A mapping or list that is being read."""

    def __init__(self, event: yaml.CollectionStartEvent, begin: int) -> None:
        """Start with its first event.

        :param begin: number of values before it
        """
        self.anchor = event.anchor or ''
        self.begin = begin
        self.line = _line(event)
        self._has_keys = isinstance(event, yaml.MappingStartEvent)
        self._is_key = True
        self._lines: dict[str, int] = {}

    def take(self, event: yaml.NodeEvent) -> None:
        """Take the next key or value in it.

        :raises RepeatedKeyError: a key that is there already
        """
        is_key, self._is_key = self._is_key and self._has_keys, not self._is_key
        if not is_key or not isinstance(event, yaml.ScalarEvent) or event.value == '<<':
            return
        line = _line(event)
        if event.value in self._lines:
            raise RepeatedKeyError(
                f'line {line}: the key {event.value!r:.60} is in line {self._lines[event.value]} '
                f'already; which of both is meant?'
            )
        self._lines[event.value] = line
