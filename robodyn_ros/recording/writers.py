"""Writers of recordings: rosbag2 (MCAP) for ROS tools, CSV for other programs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.models.interface import sample_blocks
from robodyn_ros.output_files import write_whole
from robodyn_ros.recording.bags.joint_state_bag import JointStateBag
from robodyn_ros.recording.recording import Array, Recording
from robodyn_ros.wire.joint_state import encode_joint_states

PREFIXES = {'position': 'q', 'velocity': 'qd', 'acceleration': 'qdd', 'torque': 'tau'}


def write_rosbag(
    recording: Recording,
    path: str | Path,
    *,
    topic: str = '/joint_states',
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a recording as JointState messages to an MCAP rosbag2, completely or not at all.

    Stamps are `recording.origin` plus time. Accelerations are not written: a JointState has none.

    :param metadata: facts to store with the messages, such as `EffortDeclaration.metadata()`
    :raises RecordingError: the folder exists, cannot be written, or a stamp does not fit
    """
    path = Path(path)
    if path.exists():
        raise RecordingError(f'{path}: it exists already')
    partial = path.with_name(f'.{path.name}.partial')
    shutil.rmtree(partial, ignore_errors=True)  # left over from a killed run
    try:
        with JointStateBag(partial, topic=topic, name=path.name, metadata=metadata) as bag:
            for stamp, data in joint_states(recording):
                bag.add(data, stamp)
        partial.rename(path)
    except OSError as error:
        raise RecordingError(f'{path}: it cannot be written: {error}') from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def joint_states(recording: Recording) -> Iterator[tuple[int, bytes]]:
    """Encode a recording: stamps in [ns] and JointState messages in CDR.

    :raises RecordingError: a stamp does not fit into a ROS time
    """
    stamps = stamps_of(recording.time, recording.origin, recording.source)
    signals = (recording.position, recording.velocity, recording.torque)
    for rows in sample_blocks(len(recording)):
        block = [None if values is None else values[rows] for values in signals]
        messages = encode_joint_states(recording.joints, stamps[rows], *block)
        data = [row.tobytes() for row in messages]
        yield from zip(stamps[rows].tolist(), data, strict=True)


def stamps_of(time: Array, origin: int, source: str) -> NDArray[np.int64]:
    """Return stamps in [ns] since the epoch, shape (N,).

    :param time: shape (N,), in [s]
    :param origin: epoch time of time 0, in [ns]
    :raises RecordingError: a stamp does not fit into a ROS time
    """
    stamps = origin + np.rint(time * 1e9).astype(np.int64)
    if stamps[0] < 0 or stamps[-1] >= 2**31 * 10**9:
        raise RecordingError(
            f'{source}: stamps from {stamps[0]} to {stamps[-1]} ns do not fit into a '
            'ROS time (0 to 2^31 s)'
        )
    return np.asarray(stamps, dtype=np.int64)


def write_csv(recording: Recording, path: str | Path) -> None:
    """Write a recording as CSV, completely or not at all; numbers are read back exactly.

    Columns: time [s], then q_, qd_, qdd_, tau_ with the joint's name, in SI units.

    :raises RecordingError: it cannot be written, or a joint's name does not fit into a header
    """
    bad = [name for name in recording.joints if set(name) & set(',;\t\r\n"')]
    if bad:
        raise RecordingError(
            f'{path}: the name of joint {bad[0]!r} does not fit into a CSV header'
        )
    signals = {name: getattr(recording, name) for name in PREFIXES}
    present = {name: values for name, values in signals.items() if values is not None}
    header = [f'{PREFIXES[name]}_{joint}' for name in present for joint in recording.joints]

    def write(partial: Path) -> None:
        with partial.open('w', encoding='utf-8', newline='\n') as file:
            file.write(','.join(['time', *header]) + '\n')
            for rows in sample_blocks(len(recording)):
                columns = [values[rows] for values in present.values()]
                block = np.column_stack([recording.time[rows], *columns])
                file.writelines(','.join(map(repr, row)) + '\n' for row in block.tolist())

    write_whole(path, write, RecordingError)
