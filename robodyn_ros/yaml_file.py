"""The one way this package reads a YAML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robodyn_ros.errors import RobodynError

LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
DUMPER = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)
"""Of plain data only, in C where PyYAML has it: a tenth of the time."""
DEEPEST = 100
"""Deepest nesting that is read. PyYAML composes nodes by recursion in C, which ends the process
at about 10 000 levels, and its parser takes a time that grows with the square of the depth."""
MOST = 2_000_000
"""Most values in a file, each as often as aliases repeat it."""


class TooLargeError(yaml.YAMLError):
    """A text that is YAML, but too deeply nested or too long to be read."""


def read_yaml(path: str | Path, what: str, error: type[RobodynError]) -> Any:
    """Content of a YAML file, plain data only.

    :param what: names the file in messages, such as 'the model file'
    :param error: class of the error
    :raises RobodynError: of class `error`: it cannot be read, or is no YAML, saying where
    """
    try:
        return parse_yaml(read_text(path, what, error))
    except yaml.YAMLError as reason:
        raise error(f'{what} {path} cannot be read: {reason}') from reason


def read_text(path: str | Path, what: str, error: type[RobodynError]) -> str:
    """Text of a file in UTF-8; parameters and errors as of `read_yaml`."""
    try:
        return Path(path).read_text(encoding='utf-8')
    except (OSError, ValueError) as reason:
        raise error(f'{what} {path} cannot be read: {reason}') from reason


def parse_yaml(text: str) -> Any:
    """Content of a YAML text, plain data only.

    :raises yaml.YAMLError: it is no YAML, too deeply nested or too long; its text is one line
    """
    try:
        check_yaml(text)
        return yaml.load(text, Loader=LOADER)
    except TooLargeError:
        raise
    except Exception as reason:  # constructors raise others than YAMLError, for `!!bool x`
        text = ' '.join(str(reason).split())
        raise yaml.YAMLError(f'it is no YAML: {text}') from reason


def check_yaml(text: str) -> None:
    """Make sure that a YAML text can be read without harm, in a time that its length bounds.

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
