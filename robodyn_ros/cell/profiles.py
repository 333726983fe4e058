# SPDX-License-Identifier: Apache-2.0
"""Profiles of the drives: named parts of section `cell`, from `profiles.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from robodyn_ros.errors import CellError
from robodyn_ros.yaml_file import parse_yaml

DEFAULT = 'industrial'
"""Profile of a cell that names none."""


@cache
def profiles() -> Mapping[str, Mapping[str, Any]]:
    """Return the content of all profiles by name."""
    text = Path(__file__).with_suffix('.yaml').read_text(encoding='utf-8')
    content: Mapping[str, Mapping[str, Any]] = parse_yaml(text)
    return content


def fill_from_profile(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a section `cell` with the values of its profile where it has none.

    :raises CellError: there is no such profile
    """
    name = content.get('profile', DEFAULT)
    if not isinstance(name, str) or name not in profiles():
        known = ', '.join(profiles())
        raise CellError(f'{where}: there is no profile {name!r:.60}, there are: {known}')
    below = profiles()[name]
    merged = {**below, **content, 'profile': name}
    defaults = content.get('defaults') or {}
    if isinstance(defaults, Mapping):
        merged['defaults'] = {**below.get('defaults', {}), **defaults}
    return merged
