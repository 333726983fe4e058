# SPDX-License-Identifier: Apache-2.0
"""Event as an MCAP rosbag2 of JointState topics, which every tool for bags shows by joint.

joint_states: samples as received, with their declared effort. torque_error and threshold: under
effort, in [Nm] or [N]. level: under position. reference: position and velocity that the model
torque was computed from, if it was not computed from the samples. wrench: external wrench of each
contact estimate. The calls that are no samples, the state of the detector before the first row,
its setup, and other reports of the node are facts of the bag, in JSON.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import parse_json
from robodyn_ros.control.collision.black_box.call_ring import Rows
from robodyn_ros.control.collision.black_box.detector_state import decoded, encoded
from robodyn_ros.control.collision.black_box.event import Event, Setup
from robodyn_ros.control.collision.black_box.reported import Health, Reported, health_of
from robodyn_ros.control.collision.black_box.wrench_topic import WRENCH, read_wrenches
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import RecordingError
from robodyn_ros.models.interface import sample_blocks
from robodyn_ros.recording.bags.bag_folder import finish_bag
from robodyn_ros.recording.bags.bag_metadata import EFFORT_KEY, RECORD_NAME, bag_metadata
from robodyn_ros.recording.bags.bag_scan import BagScan
from robodyn_ros.recording.bags.joint_state_bag import joint_state_topic
from robodyn_ros.recording.bags.mcap_writer import McapWriter
from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.joint_state import JointStateLayout, encode_joint_states
from robodyn_ros.wire.wrench import encode_wrench

KEY = 'robodyn_collision_event'
"""Fact of a bag that is an event."""
FILE = 'event_0.mcap'
SAMPLES = ('/joint_states', '/collision_monitor/reference')
RESULTS = tuple(f'/collision_monitor/{name}' for name in ('torque_error', 'threshold', 'level'))


def write_event(event: Event, folder: Path) -> None:
    """Write the bag into a new folder.

    :raises OSError: it cannot be written
    """
    rows = event.rows
    content = {
        'reason': event.reason,
        'calls': rows.calls,
        'messages': rows.messages,
        'reported': event.reported.content(),
        'state': encoded(rows.state),
        **event.setup.content(),
    }
    facts = {KEY: json.dumps(content), **event.setup.effort.metadata()}
    has_reference = bool(np.isfinite(rows.samples[:, 3:]).any())
    names = (*RESULTS, *SAMPLES[: 1 + has_reference])
    folder.mkdir()
    topics = [*map(joint_state_topic, names), *[WRENCH] * bool(event.reported.contacts)]
    writer = McapWriter(folder / FILE, topics, {RECORD_NAME: facts})
    try:
        _write_rows(writer, rows, event.setup.settings.joints, has_reference)
        for each in event.reported.contacts:
            data = encode_wrench(each.stamp, event.reported.frame, each.wrench)
            writer.add(data, each.time, len(names))
        writer.flush()
        written = writer.count
    finally:
        finish_bag(writer, folder, {**facts, KEY: json.dumps({'reason': event.reason})})
    if writer.count < written:  # the end was dropped, because the index had no space
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write_rows(writer: McapWriter, rows: Rows, joints: Any, has_reference: bool) -> None:
    """Write runs of samples in blocks, and the results of each other call by itself."""
    times = np.maximum.accumulate(rows.times)
    cuts = [row for row, _, _ in rows.calls]
    for start, end in zip([0, *(row + 1 for row in cuts)], [*cuts, len(times)], strict=True):
        for block in sample_blocks(end - start, 256):
            chosen = np.arange(start, end)[block]
            samples = _encoded_samples(rows, chosen, joints)[: 1 + has_reference]
            writer.add_rows(times[chosen], [*_encoded_results(rows, chosen, joints), *samples])
        if end < len(times):
            for topic, message in enumerate(_encoded_results(rows, np.array([end]), joints)):
                writer.add(message[0].tobytes(), int(times[end]), topic)


def _encoded_results(rows: Rows, chosen: NDArray[np.intp], joints: Any) -> list[NDArray[np.uint8]]:
    stamps, results = rows.stamps[chosen], rows.results[chosen]
    level = rows.level[chosen].astype(float)
    return [
        encode_joint_states(joints, stamps, effort=results[:, 0]),
        encode_joint_states(joints, stamps, effort=results[:, 1]),
        encode_joint_states(joints, stamps, position=level),
    ]


def _encoded_samples(rows: Rows, chosen: NDArray[np.intp], joints: Any) -> list[NDArray[np.uint8]]:
    stamps, samples = rows.stamps[chosen], rows.samples[chosen].swapaxes(0, 1)
    return [
        encode_joint_states(joints, stamps, *samples[:3]),
        encode_joint_states(joints, stamps, *samples[3:]),
    ]


def is_event(path: Path) -> bool:
    """Return True for the folder of an event."""
    return (path / FILE).is_file()


def read_event(path: str | Path) -> Event:
    """Read an event.

    :raises RobodynError: it is no event, or damaged
    """
    path = Path(path)
    facts = bag_metadata(path)
    if KEY not in facts:
        raise RecordingError(f'{path} is no event of the collision monitor')
    try:
        content = parse_json(facts[KEY])
        declared = parse_json(facts[EFFORT_KEY])
        effort = EffortDeclaration.from_mapping(declared, source=str(path))
        setup = Setup.from_content(content, effort)
        calls = tuple((int(row), str(name), value) for row, name, value in content['calls'])
        messages = tuple((int(row), str(text)) for row, text in content['messages'])
        rows = _read_rows(path, calls, messages, decoded(content['state']))
        used = [call[0] for call in calls] + [row for row, _ in messages]
        if not all(0 <= row < len(rows.times) for row in used):
            raise RecordingError('a call or message belongs to no sample')
        reported = Reported.from_content(content.get('reported', {}), read_wrenches(path))
        return Event(str(content['reason']), setup, rows, reported)
    except RecordingError as error:
        raise RecordingError(f'{path}: {error}') from error
    except (
        ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    ) as error:  # fmt: skip
        raise RecordingError(f'{path}: the event is damaged: {error}') from error


def read_health(path: Path) -> tuple[str, str, Health | None]:
    """Return reason, hash of the model and its health before an event, without its samples.

    :raises RecordingError: it is no event, or damaged
    """
    facts = bag_metadata(path)
    if KEY not in facts:
        raise RecordingError(f'{path} is no event of the collision monitor')
    try:
        content = parse_json(facts[KEY])
        health = health_of(content.get('reported', {}))
        return str(content['reason']), str(content['model']['hash']), health
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise RecordingError(f'{path}: the event is damaged: {error}') from error


def _read_rows(path: Path, calls: Any, messages: Any, state: dict[str, Any]) -> Rows:
    results = [_read_topic(path, name) for name in RESULTS]
    if any(topic is None or len(topic[0]) != len(results[0][0]) for topic in results):
        raise RecordingError('its topics have different numbers of messages')
    times, stamps = results[0][:2]
    count, width = results[0][2].shape[1:]
    samples = np.full((count, 5, width), np.nan)
    sampled = np.ones(count, dtype=bool)
    sampled[[row for row, _, _ in calls]] = False
    for name, places in zip(SAMPLES, (slice(0, 3), slice(3, 5)), strict=True):
        topic = _read_topic(path, name)
        if topic is not None:
            samples[sampled, places] = topic[2][: places.stop - places.start].swapaxes(0, 1)
    return Rows(
        state=state,
        stamps=stamps,
        times=times,
        samples=samples,
        results=np.stack([results[0][2][2], results[1][2][2]], axis=1),
        level=results[2][2][0].astype(np.uint8),
        calls=calls,
        messages=messages,
    )


def _read_topic(path: Path, name: str) -> Any:
    """Return times and stamps in [ns], shape (N,), and the fields, (3, N, n); None: no topic."""
    messages = list(BagScan(path, name).messages())
    if not messages:
        return None
    try:
        layout = JointStateLayout(messages[0][1])
    except WireError as error:
        raise RecordingError(f'{name}: {error}') from error
    data = [message for _, message in messages]
    if not all(layout.fits(message) for message in data):
        raise RecordingError(f'{name}: its messages differ in their joints')
    stamps, *fields = layout.decode(data)
    return np.array([time for time, _ in messages]), stamps, np.stack(fields)
