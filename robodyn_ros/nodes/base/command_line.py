# SPDX-License-Identifier: Apache-2.0
"""Parameters on the command line of a node."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import yaml

from robodyn_ros.yaml_file import parse_yaml


def command_line(words: Sequence[str], node: str) -> dict[str, Any]:
    """Return the values that `-p NAME:=VALUE` gives to a node; the last one of a name counts.

    :param words: arguments of the process; those of ROS stand between `--ros-args` and `--`
    :param node: its name
    """
    values: dict[str, Any] = {}
    of_ros = False
    for word, following in zip(words, [*words[1:], ''], strict=True):
        of_ros = word == '--ros-args' or (of_ros and word != '--')
        name, assigned, text = following.partition(':=')
        prefix, _, parameter = name.rpartition(':')
        if of_ros and word in ('-p', '--param') and assigned and prefix in ('', node):
            try:
                values[parameter] = _read_numbers(parse_yaml(text))
            except yaml.YAMLError:
                continue  # rcl refuses it
    return values


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
