# SPDX-License-Identifier: Apache-2.0
"""Names of the parameters of all nodes, to check robot files and command lines without ROS."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from robodyn_ros.errors import ConfigError
from robodyn_ros.yaml_file import parse_yaml

OF_ROS = ('use_sim_time', 'start_type_description_service')
"""Parameters that rclpy declares."""


@cache
def parameter_names() -> Mapping[str, frozenset[str]]:
    """Return the names by node, from `names.yaml`, which `tools.pages` writes."""
    text = Path(__file__).with_suffix('.yaml').read_text(encoding='utf-8')
    return {node: frozenset((*names, *OF_ROS)) for node, names in parse_yaml(text).items()}


def check_keys(node: str, section: Mapping[Any, Any], where: str) -> None:
    """Raise a ConfigError if a key of a section is no parameter of its node."""
    known = parameter_names()[node]
    for name in flat(section):
        if name not in known:
            like = nearest(name, known)
            raise ConfigError(f'{where}: there is no key {name!r}; did you mean {like}?')


def nearest(name: str, known: Collection[str], likeness: float = 0.0) -> str:
    """Return the known name that is most similar to another one; '' if none is similar enough."""
    matches = difflib.get_close_matches(name, sorted(known), 1, cutoff=likeness)
    return matches[0] if matches else ''


def flat(section: Mapping[Any, Any], prefix: str = '') -> dict[str, Any]:
    """Return the values of a section by name; as in rcl, dots join nested names."""
    values: dict[str, Any] = {}
    for key, value in section.items():
        if isinstance(value, Mapping):
            values |= flat(value, f'{prefix}{key}.')
        else:
            values[f'{prefix}{key}'] = value
    return values
