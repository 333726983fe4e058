# SPDX-License-Identifier: Apache-2.0
"""Parameters on the command line of a node, and in the files that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import yaml

from robodyn_ros.errors import ConfigError
from robodyn_ros.node_parameters.names import flat
from robodyn_ros.yaml_file import parse_yaml, read_yaml


def command_line(words: Sequence[str], node: str) -> dict[str, Any]:
    """Return the values that `-p NAME:=VALUE` gives to a node; the last one of a name counts.

    :param words: arguments of the process; those of ROS stand between `--ros-args` and `--`
    :param node: its name
    """
    values: dict[str, Any] = {}
    for prefix, parameter, text in _assignments(words):
        if prefix in ('', node):
            try:
                values[parameter] = _read_numbers(parse_yaml(text))
            except yaml.YAMLError:
                continue  # rcl refuses it
    return values


def list_addressed(words: Sequence[str], node: str) -> dict[str, str]:
    """Return the parameters that are given to a node by its name, with where they stand.

    Those that may be for several nodes are left out: `-p NAME:=VALUE`, which a launch file gives
    to each node of a group, and sections as `/**`.

    :param words: as of `command_line`
    :param node: its name
    """
    names = {name: 'command line' for prefix, name, _ in _assignments(words) if prefix == node}
    for word, path in _options(words):
        if word == '--params-file':
            try:
                document = read_yaml(path, 'the parameter file', ConfigError)
            except ConfigError:  # rcl judges it: a repeated key in the section of another node
                continue
            for section, values in _sections(document):
                if section.rpartition('/')[2] == node:
                    names |= dict.fromkeys(flat(values), f'{path}, section {section}')
    return names


def _assignments(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield node (or ''), name and value of each parameter."""
    for word, following in _options(words):
        name, assigned, text = following.partition(':=')
        prefix, _, parameter = name.rpartition(':')
        if word in ('-p', '--param') and assigned:
            yield prefix, parameter, text


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each word for ROS with the word after it."""
    of_ros = False
    for word, following in zip(words, [*words[1:], ''], strict=True):
        of_ros = word == '--ros-args' or (of_ros and word != '--')
        if of_ros:
            yield word, following


def _sections(document: Any, name: str = '') -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Yield the sections of a parameter file; names of nodes may be nested."""
    for key, value in document.items() if isinstance(document, Mapping) else ():
        if key == 'ros__parameters' and isinstance(value, Mapping):
            yield name, value
        else:
            yield from _sections(value, f'{name}/{key}' if name else str(key))


def _read_numbers(value: Any) -> Any:
    """Return the value with numbers as rcl reads them: 1e3 is one, and a list has one type."""
    if isinstance(value, list):
        items = [_read_numbers(item) for item in value]
        decimal = any(isinstance(item, float) for item in items)
        return [float(item) for item in items] if decimal else items
    if isinstance(value, str) and value[:1] in '+-.0123456789':
        with suppress(ValueError):
            return float(value)
    return value
