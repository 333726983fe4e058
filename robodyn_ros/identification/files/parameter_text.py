# SPDX-License-Identifier: Apache-2.0
"""Files of a result: text that appears complete or not at all, ROS parameters as YAML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from robodyn_ros.errors import IdentificationError
from robodyn_ros.output_files import write_file


def parameter_text(parameters: Mapping[str, Any]) -> str:
    """Lay out a ROS parameter file for all nodes (`/**`)."""
    content = {'/**': {'ros__parameters': dict(parameters)}}
    return str(
        yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=10**6, allow_unicode=True)
    )


def write_text(text: str, path: str | Path) -> None:
    """Write a text file so that it appears complete or not at all.

    :raises IdentificationError: it cannot be written
    """
    write_bytes(text.encode('utf-8'), path)


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write a file so that it appears complete or not at all.

    :raises IdentificationError: it cannot be written
    """
    write_file(path, lambda file: file.write_bytes(content), IdentificationError)


class _Dumper(yaml.SafeDumper):
    """Writes lists in one line, and text with line breaks as a block."""

    def represent_list(self, data: Any) -> Any:
        """Represent a list in one line."""
        return self.represent_sequence('tag:yaml.org,2002:seq', data, flow_style=True)

    def represent_text(self, data: str) -> Any:
        """Represent a string, as a block when it has several lines."""
        style = '|' if '\n' in data else None
        return self.represent_scalar('tag:yaml.org,2002:str', data, style=style)


_Dumper.add_representer(list, _Dumper.represent_list)
_Dumper.add_representer(str, _Dumper.represent_text)
