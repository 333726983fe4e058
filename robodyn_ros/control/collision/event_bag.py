# SPDX-License-Identifier: Apache-2.0
"""Events: bags of the seconds around a reaction, each with the settings of its monitor."""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.bag_metadata import RECORD_NAME, finish_bag
from robodyn_ros.recording.bags.mcap_writer import McapWriter, Topic
from robodyn_ros.yaml_file import DUMPER, read_yaml

SETTINGS = 'settings.yaml'
NAME = re.compile(r'event_(\d{8}_\d{6})(?:_(\d+))?')
"""Names of events. Nothing else in the folder is deleted."""
BURST = 20
"""Messages that are written before the thread lets others work."""
Message = tuple[int, int, bytes]
"""Index of the topic, time of reception in [ns] since the epoch, serialised message."""


@dataclass(frozen=True)
class EventSettings:
    """Settings of a monitor when its reactions started.

    :param reason: why they started
    :param time: of the node's clock, in [ns] since the epoch
    :param result_file: absolute path; '': the model was given as parameters
    :param model_hash: of the result, without a payload
    :param values: parameter values of the model in use, with its payload, length p, SI
    :param parameters: of the node, by name
    """

    reason: str
    time: int
    result_file: str
    model_hash: str
    values: Sequence[float]
    parameters: Mapping[str, Any]


def write_event(
    folder: Path, settings: EventSettings, topics: Sequence[Topic], messages: Sequence[Message],
    facts: Mapping[str, str],
) -> Path:  # fmt: skip
    """Write an event, completely or not at all; return its folder.

    :param folder: of all events; it is made if it does not exist
    :param facts: of the bag, see `bag_metadata.py`
    :raises RecordingError: it cannot be written
    """
    partial = folder / '.event.partial'
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        writer = McapWriter(partial / 'event_0.mcap', topics, {RECORD_NAME: facts})
        try:
            for row, (topic, stamp, data) in enumerate(messages):
                if row % BURST == 0:
                    time.sleep(1e-4)  # the cycle of the node needs the interpreter
                writer.add(data, stamp, topic)
            writer.flush()
        finally:
            finish_bag(writer, partial, facts)
        if writer.count < len(messages):  # the end was dropped, because the index had no space
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        text = yaml.dump(asdict(settings), Dumper=DUMPER, sort_keys=False, width=99)
        (partial / SETTINGS).write_text(text, 'utf-8')
        return partial.rename(_new_name(folder))
    except OSError as error:
        text = error.strerror or str(error)
        raise RecordingError(f'{folder}: an event is lost: {text}') from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def delete_oldest(folder: Path, limit: float) -> None:
    """Delete the oldest events until all together have at most `limit` [bytes].

    The newest event is kept.
    """
    events = events_in(folder)
    sizes = [sum(file.stat().st_size for file in event.iterdir()) for event in events]
    while len(events) > 1 and sum(sizes) > limit:
        shutil.rmtree(events.pop(0), ignore_errors=True)
        sizes.pop(0)


def events_in(folder: Path) -> list[Path]:
    """Return the events in a folder, oldest first; empty if it cannot be read."""
    try:
        paths = [path for path in folder.iterdir() if NAME.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(filter(is_event, paths), key=_age)


def is_event(path: Path) -> bool:
    """Return True for the folder of an event."""
    return (path / SETTINGS).is_file()


def read_settings(event: Path) -> EventSettings:
    """Read the settings of an event.

    :raises RecordingError: they cannot be read, or are damaged
    """
    path = event / SETTINGS
    content = read_yaml(path, 'the settings of the event', RecordingError)
    try:
        return EventSettings(
            str(content['reason']), int(content['time']), str(content['result_file']),
            str(content['model_hash']), [float(value) for value in content['values']],
            {str(name): value for name, value in content['parameters'].items()},
        )  # fmt: skip
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise RecordingError(
            f'{path}: the settings of the event are damaged ({type(error).__name__}: {error})'
        ) from error


def _new_name(folder: Path) -> Path:
    """Return a new name, after those of the same second."""
    first = folder / time.strftime('event_%Y%m%d_%H%M%S')
    second = _age(first)[0]
    numbers = [number for when, number in map(_age, events_in(folder)) if when == second]
    return first.with_name(f'{first.name}_{max(numbers) + 1}') if numbers else first


def _age(path: Path) -> tuple[str, int]:
    """Return second and number of an event."""
    match = NAME.fullmatch(path.name)
    assert match is not None
    return match[1], int(match[2] or 1)
