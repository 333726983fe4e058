# SPDX-License-Identifier: Apache-2.0
"""Metadata of a bag, and the facts in it that a recorder stores beside messages: text under a key.

They are in `custom_data` of metadata.yaml, as usual in rosbag2, and in an MCAP metadata record at
the start of the file, where they survive if the recorder is killed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from robodyn_ros.errors import RecordingError
from robodyn_ros.output_files import write_file
from robodyn_ros.recording.bags.bag_scan import (
    UNREADABLE,
    bag_files,
    folder_information,
    is_rosbag,
)
from robodyn_ros.recording.bags.mcap import DAMAGED, metadata_records
from robodyn_ros.recording.bags.mcap_writer import McapWriter

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


def finish_bag(writer: McapWriter, folder: Path, custom: Mapping[str, str]) -> None:
    """Close the file and write metadata.yaml.

    :param custom: facts to keep with the messages
    :raises OSError: one of them cannot be written
    """
    writer.close(lambda: _dump(_metadata(writer, custom)).strip())
    text = _dump({'rosbag2_bagfile_information': _metadata(writer, custom)})
    path = folder / 'metadata.yaml'
    try:
        write_file(path, lambda partial: partial.write_text(text, 'utf-8'), RecordingError)
    except RecordingError as error:
        raise OSError(getattr(error.__cause__, 'errno', None), str(error)) from error


def _metadata(writer: McapWriter, custom: Mapping[str, str]) -> dict[str, object]:
    """Return the content of metadata.yaml, version 9 (Jazzy)."""
    times: dict[str, object] = {
        'starting_time': {'nanoseconds_since_epoch': writer.first},
        'duration': {'nanoseconds': writer.last - writer.first},
        'message_count': writer.count,
    }
    topics = [
        {
            'topic_metadata': {
                'name': topic.name,
                'type': topic.msgtype,
                'serialization_format': 'cdr',
                'offered_qos_profiles': [],
                'type_description_hash': topic.type_hash,
            },
            'message_count': count,
        }
        for topic, count in zip(writer.topics, writer.counts, strict=True)
    ]
    return {
        'version': 9,
        'storage_identifier': 'mcap',
        **times,
        'topics_with_message_count': topics,
        'compression_format': '',
        'compression_mode': '',
        'relative_file_paths': [writer.path.name],
        'files': [{'path': writer.path.name, **times}],
        'custom_data': dict(custom) or None,
        'ros_distro': os.environ.get('ROS_DISTRO', 'jazzy'),
    }


class _NoAliases(yaml.SafeDumper):
    """YAML without anchors, as rosbag2's reader expects it."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _dump(content: object) -> str:
    return str(yaml.dump(content, Dumper=_NoAliases, sort_keys=False))
