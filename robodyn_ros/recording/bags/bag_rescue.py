# SPDX-License-Identifier: Apache-2.0
"""Repair of the bag of a killed recorder, so that every reader can read it."""

from __future__ import annotations

import shutil
from pathlib import Path

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.bag_metadata import bag_metadata
from robodyn_ros.recording.bags.bag_scan import bag_files
from robodyn_ros.recording.bags.joint_state_bag import JointStateBag
from robodyn_ros.recording.bags.joint_state_decoder import MSGTYPE
from robodyn_ros.recording.bags.mcap import McapScan


def rescue_bag(path: Path) -> int:
    """Write index and metadata.yaml of a bag that was not closed; messages stay as they are.

    :param path: folder that a `JointStateBag` wrote and that is not being written to any more
    :return: number of messages in it
    :raises RecordingError: it is closed already, or it cannot be read or written
    """
    files = bag_files(path) if path.is_dir() else []
    if len(files) != 1 or (path / 'metadata.yaml').exists():
        raise RecordingError(f'{path} is not a bag that was left open')
    (file,) = files
    partial = path.with_name(f'.{path.name}.partial')
    shutil.rmtree(partial, ignore_errors=True)
    try:
        topic, *others = _topics(file)
        names = {'commands': others[0]} if others else {}
        with JointStateBag(
            partial, topic=topic, name=path.name, metadata=bag_metadata(path), **names
        ) as bag:
            for name, add in zip((topic, *others), (bag.add, bag.add_command), strict=False):
                for time, data in McapScan(file, name, MSGTYPE).messages():
                    add(data, time)
        for name in (file.name, 'metadata.yaml'):
            (partial / name).replace(path / name)
        file.with_name(f'.{file.name}.reserve').unlink(missing_ok=True)
    except OSError as error:
        raise RecordingError(f'{path}: it cannot be closed: {error}') from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return bag.statistics.messages


def _topics(file: Path) -> list[str]:
    """Return the topics of joint states, and of commanded positions if there are any."""
    scan = McapScan(file, '', MSGTYPE)
    for _ in scan.messages():
        pass
    found = [name for name, kind in scan.topics.items() if kind == MSGTYPE]
    if not found:
        raise RecordingError(f'{file}: it has no joint states')
    return found
