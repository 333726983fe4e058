# SPDX-License-Identifier: Apache-2.0
"""Facts that a recorder stores in a bag in addition to messages: text under a key.

They are in `custom_data` of metadata.yaml, as usual in rosbag2, and in an MCAP metadata record at
the start of the file, where they survive if the recorder is killed.
"""

from __future__ import annotations

from pathlib import Path

from robodyn_ros.recording.bags.bag_scan import (
    UNREADABLE,
    bag_files,
    folder_information,
    is_rosbag,
)
from robodyn_ros.recording.bags.mcap import DAMAGED, metadata_records

RECORD_NAME = 'robodyn_ros'
EFFORT_KEY = 'robodyn_effort'
"""Key of the declaration of efforts, in JSON; see `control.effort.declaration`."""
SI_EFFORT = {'unit': 'SI', 'side': 'joint', 'gravity': 'included'}
"""Declaration of efforts in Nm or N at the joint."""


def bag_metadata(path: str | Path) -> dict[str, str]:
    """Return the facts in a bag (folder or file); empty if it cannot be read."""
    path = Path(path)
    if not is_rosbag(path):
        return {}
    facts: dict[str, str] = {}
    for file in bag_files(path)[:1]:
        if file.suffix == '.mcap':
            facts |= _of_file(file)
    folder = path if path.is_dir() else path.parent
    return facts or _of_folder(folder, path)


def _of_folder(folder: Path, path: Path) -> dict[str, str]:
    try:
        bag = folder_information(folder)
        names = [Path(str(name)).name for name in bag['relative_file_paths']]
        custom = bag.get('custom_data') if path.is_dir() or path.name in names else None
        return {str(key): str(value) for key, value in (custom or {}).items()}
    except UNREADABLE:
        return {}


def _of_file(file: Path) -> dict[str, str]:
    try:
        return next((facts for name, facts in metadata_records(file) if name == RECORD_NAME), {})
    except (OSError, *DAMAGED):
        return {}
