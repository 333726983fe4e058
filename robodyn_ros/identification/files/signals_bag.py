# SPDX-License-Identifier: Apache-2.0
"""A recording of the identification itself, as a rosbag2 that PlotJuggler opens.

It has the content of softMC's IDNT<n>.REC (document, "Explanation of the identification process
recording file"). All topics are JointStates; accelerations are in `position` of their topic.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import read_text
from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.result.content import ResultSignals
from robodyn_ros.models.interface import Array, sample_blocks
from robodyn_ros.recording.bags.bag_metadata import EFFORT_KEY, RECORD_NAME, SI_EFFORT, finish_bag
from robodyn_ros.recording.bags.joint_state_bag import joint_state_topic
from robodyn_ros.recording.bags.mcap_writer import McapWriter
from robodyn_ros.recording.bags.rosbag import read_rosbag
from robodyn_ros.recording.stamps import stamps_of
from robodyn_ros.wire.joint_state import encode_joint_states

Stamps = NDArray[np.int64]
Bytes = NDArray[np.uint8]


TOPICS = (
    '/identification/raw',
    '/identification/filtered',
    '/identification/acceleration',
    '/identification/model',
    '/identification/torque_error',
)


def write_signals(signals: ResultSignals, path: str | Path) -> None:
    """Write the signals as a rosbag2 folder, in the folder of a file set.

    raw: position and effort as measured. filtered: position, velocity, effort. acceleration:
    under position. model: effort. torque_error: effort, model minus filtered torque. SI units.

    :raises RecordingError: stamps do not fit into a ROS time
    :raises IdentificationError: it cannot be written; then there is no folder
    """
    path = Path(path)
    declared = {EFFORT_KEY: json.dumps(SI_EFFORT)}
    topics = [joint_state_topic(name) for name in TOPICS]
    try:
        path.mkdir()
        writer = McapWriter(path / f'{path.name}_0.mcap', topics, {RECORD_NAME: declared})
        try:
            for stamps, messages in _messages(signals):
                writer.add_rows(stamps, messages)
        finally:
            finish_bag(writer, path, declared)
    except (OSError, RobodynError) as error:
        shutil.rmtree(path, ignore_errors=True)
        if isinstance(error, RobodynError):
            raise
        raise IdentificationError(f'{path}: it cannot be written: {error}') from error


def read_signals(path: str | Path, joints: Sequence[str]) -> dict[str, Array]:
    """Read the signals of `write_signals` again.

    :return: `time` (N,) in [s] from the first sample on; `position`, `velocity`, `acceleration`,
        `torque` and `predicted`, shape (N, n), SI
    :raises RecordingError: the bag cannot be read, or a topic or joint is missing
    :raises IdentificationError: signals are incomplete
    """
    signals: dict[str, Array] = {}
    for topic, columns in _COLUMNS.items():
        table = read_rosbag(Path(path), topic=topic, joints=joints)
        for name, column in columns.items():
            signals[name] = np.asarray(table.column(column, name), dtype=np.float64)
    if len({len(values) for values in signals.values()}) > 1 or not all(
        np.isfinite(values).all() for values in signals.values()
    ):
        raise IdentificationError(f'{path}: its signals are incomplete')
    return signals


_COLUMNS = {
    TOPICS[1]: {name: name for name in ('time', 'position', 'velocity', 'torque')},
    TOPICS[2]: {'acceleration': 'position'},
    TOPICS[3]: {'predicted': 'torque'},
}
"""Signals by topic, each with the column that holds it."""


def is_signals(path: Path) -> bool:
    """Return True if this module wrote the folder, so that no other recording is deleted."""
    try:
        return f'name: {TOPICS[0]}\n' in read_text(path / 'metadata.yaml')
    except (OSError, UnicodeDecodeError):
        return False


def _messages(signals: ResultSignals) -> Iterator[tuple[Stamps, list[Bytes]]]:
    """Yield blocks of stamps in [ns], shape (N,), and messages of each topic."""
    kept = signals.processed
    every = stamps_of(kept.time, signals.origin, 'the signals')
    for rows in sample_blocks(len(every), 512):  # each makes one chunk of the file
        torque, predicted, stamps = kept.torque[rows], signals.predicted[rows], every[rows]
        columns: tuple[tuple[Array | None, ...], ...] = (
            (kept.measured_position[rows], None, kept.measured[rows]),
            (kept.position[rows], kept.velocity[rows], torque),
            (kept.acceleration[rows],),
            (None, None, predicted),
            (None, None, predicted - torque),
        )
        yield stamps, [encode_joint_states(kept.joints, stamps, *values) for values in columns]
