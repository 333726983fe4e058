"""Reader of YAML files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robodyn_ros.errors import RobodynError

LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
DUMPER = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)
"""Loader and dumper of plain data, in C where PyYAML has it: a tenth of the time."""
DEEPEST = 100
"""Deepest nesting that is read. PyYAML composes nodes by recursion in C, which ends the process
at about 10 000 levels, and the time of its parser grows with the square of the depth."""
MOST = 2_000_000
"""Largest number of values in a file, repetitions by aliases included."""


class TooLargeError(yaml.YAMLError):
    """YAML text that is too deeply nested or too long to be read."""


def read_yaml(path: str | Path, what: str, error: type[RobodynError]) -> Any:
    """Read a YAML file of plain data.

    :param what: name of the file in messages, such as 'the model file'
    :param error: class of the error
    :raises RobodynError: of class `error`: it cannot be read or is no YAML
    """
    try:
        return parse_yaml(read_text(path, what, error))
    except yaml.YAMLError as reason:
        raise error(f'{what} {path} cannot be read: {reason}') from reason


def read_text(path: str | Path, what: str, error: type[RobodynError]) -> str:
    """Read a text file in UTF-8; parameters and errors as of `read_yaml`."""
    try:
        return Path(path).read_text(encoding='utf-8')
    except (OSError, ValueError) as reason:
        raise error(f'{what} {path} cannot be read: {reason}') from reason


def parse_yaml(text: str) -> Any:
    """Parse YAML text of plain data.

    :raises yaml.YAMLError: it is no YAML, too deeply nested or too long; the message is one line
    """
    try:
        check_yaml(text)
        return yaml.load(text, Loader=LOADER)
    except TooLargeError:
        raise
    except Exception as reason:  # constructors raise other errors too, for `!!bool x`
        text = ' '.join(str(reason).split())
        raise yaml.YAMLError(f'it is no YAML: {text}') from reason


def check_yaml(text: str) -> None:
    """Check that a YAML text can be read safely, in a time proportional to its length.

    :raises TooLargeError: it is nested more deeply than DEEPEST, or has more than MOST values
    :raises yaml.YAMLError: it is no YAML
    """
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=LOADER):
        anchor = getattr(event, 'anchor', None)
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((anchor, total))
            if len(open_nodes) > DEEPEST:
                mark = event.start_mark
                where = f'line {mark.line + 1}' if mark else 'it'
                raise TooLargeError(f'{where} is nested more than {DEEPEST} levels deep')
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, begin = open_nodes.pop()
            if anchor:
                sizes[anchor] = total - begin
        elif isinstance(event, yaml.AliasEvent):
            total += sizes.get(anchor or '', 0)
        total += 1
        if total > MOST:
            raise TooLargeError(f'it has more than {MOST} values')
