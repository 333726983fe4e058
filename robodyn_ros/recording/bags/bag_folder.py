# SPDX-License-Identifier: Apache-2.0
"""rosbag2 metadata of a folder with an MCAP file, in the file and in metadata.yaml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from robodyn_ros.errors import RecordingError
from robodyn_ros.output_files import write_file
from robodyn_ros.recording.bags.mcap_writer import McapWriter


def finish_bag(writer: McapWriter, folder: Path, custom: Mapping[str, str]) -> None:
    """Close the file and write metadata.yaml.

    :param custom: facts to keep with the messages (see `bag_metadata.py`)
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
