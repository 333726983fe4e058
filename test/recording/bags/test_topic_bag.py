# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from bags import TYPES, torque_types, wave, write_bag
from rosbags.rosbag2 import StoragePlugin, Writer

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.topic_bag import TORQUE_STATE, read_topic, topic_types


def torque_bag(path: Path, rows: np.ndarray, names: list[str], plugin: StoragePlugin) -> Path:
    """TorqueState messages: requested as given, commanded twice as much."""
    store = torque_types()
    types = store.types
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        link = writer.add_connection('/ff/torque_state', TORQUE_STATE, typestore=store)
        for number, row in enumerate(rows):
            nanoseconds = 10**18 + number * 2_000_000
            stamp = types['builtin_interfaces/msg/Time'](*divmod(nanoseconds, 10**9))
            header = types['std_msgs/msg/Header'](stamp=stamp, frame_id='')
            columns = (names, row, row, 2.0 * row, row)
            state = types[TORQUE_STATE](header, *columns, True, '', 0, 0, 0, 0)
            writer.write(link, nanoseconds, store.serialize_cdr(state, TORQUE_STATE))
    return path


def torques(message):
    return message.name, (message.requested, message.additive_command)


@pytest.mark.parametrize('plugin', list(StoragePlugin))
def test_signals_of_joints_by_name(tmp_path, plugin):
    rows = np.random.default_rng(1).normal(size=(20, 3))
    path = torque_bag(tmp_path / 'bag', rows, ['a', 'b', 'c'], plugin)
    assert topic_types(path) == {'/ff/torque_state': TORQUE_STATE}
    found = read_topic(path, '/ff/torque_state', ['c', 'a'], torques)
    np.testing.assert_array_equal(found.stamps, 10**18 + 2_000_000 * np.arange(20))
    requested, commanded = found.signals
    np.testing.assert_array_equal(requested, rows[:, [2, 0]])
    np.testing.assert_array_equal(commanded, 2.0 * rows[:, [2, 0]])


def test_repeated_stamps_other_joints_and_empty_signals_are_left_out(tmp_path):
    messages = wave(8)
    messages[2][1].header.stamp = messages[1][1].header.stamp
    messages[3][1].name[0] = 'gripper'
    messages[4][1].position = np.zeros(0)
    messages[6][1].position = np.zeros(1)
    messages[7][1].position[1] = np.inf
    kind = 'sensor_msgs/msg/JointState'
    encoded = [(time, bytes(TYPES.serialize_cdr(state, kind))) for time, state in messages]
    path = write_bag(tmp_path / 'bag', encoded)
    found = read_topic(path, '/joint_states', ['a', 'b'], lambda m: (m.name, (m.position,)))
    kept = [messages[row] for row in (0, 1, 5)]
    np.testing.assert_array_equal(found.stamps, [time for time, _ in kept])
    np.testing.assert_array_equal(found.signals[0], [state.position for _, state in kept])


def test_a_type_that_the_bag_does_not_define_is_named(tmp_path):
    path = torque_bag(tmp_path / 'bag', np.ones((3, 1)), ['a'], StoragePlugin.SQLITE3)
    with closing(sqlite3.connect(next(path.glob('*.db3')))) as file, file:
        file.execute('delete from message_definitions')  # as ROS 2 before Iron wrote it
    with pytest.raises(RecordingError, match=f'it has no definition of {TORQUE_STATE}'):
        read_topic(path, '/ff/torque_state', ['a'], torques)


def test_errors_are_one_sentence(tmp_path):
    path = torque_bag(tmp_path / 'bag', np.zeros((3, 1)), ['a'], StoragePlugin.MCAP)
    with pytest.raises(RecordingError, match=r"/ff/torque_state has 0 messages with \['b'\]"):
        read_topic(path, '/ff/torque_state', ['b'], torques)
    with pytest.raises(RecordingError, match='/other has 0 messages'):
        read_topic(path, '/other', ['a'], torques)
    with pytest.raises(RecordingError, match="of /ff/torque_state have no field 'reference'"):
        read_topic(path, '/ff/torque_state', ['a'], lambda message: message.reference)
    (tmp_path / 'empty').mkdir()
    for wrong in (tmp_path / 'empty', tmp_path / 'absent'):
        with pytest.raises(RecordingError, match='the bag cannot be read'):
            topic_types(wrong)
