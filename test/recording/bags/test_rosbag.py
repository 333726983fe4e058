# SPDX-License-Identifier: Apache-2.0
import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from bags import JOINT_STATE, TYPES, cdr, message, wave, write_bag
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.recording.readers import read_recording

PLUGINS = [StoragePlugin.MCAP, StoragePlugin.SQLITE3]
START = 1_700_000_000 * 10**9


def encoded(states):
    return [(time, cdr(state)) for time, state in states]


def codes(recording):
    return [finding.code for finding in recording.findings]


def storage(bag):
    return next(file for file in bag.iterdir() if file.suffix in ('.mcap', '.db3'))


@pytest.mark.parametrize('plugin', PLUGINS)
@pytest.mark.parametrize('as_file', [False, True])
def test_reads_folder_and_single_file(tmp_path, plugin, as_file):
    states = wave(3000)
    bag = write_bag(tmp_path / 'bag', encoded(states), plugin=plugin)
    recording = read_recording(storage(bag) if as_file else bag)
    assert recording.joints == ('a', 'b')
    assert recording.origin == START
    np.testing.assert_allclose(recording.time, np.arange(3000) * 0.002, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(recording.position, [s.position for _, s in states])
    np.testing.assert_array_equal(recording.velocity, [s.velocity for _, s in states])
    np.testing.assert_array_equal(recording.torque, [s.effort for _, s in states])
    assert codes(recording) == []


@pytest.mark.parametrize('mode', list(CompressionMode)[1:])
def test_reads_compressed_bags(tmp_path, mode):
    states = wave(30)
    chunks = mode == CompressionMode.STORAGE
    plugin = StoragePlugin.MCAP if chunks else StoragePlugin.SQLITE3
    writer = Writer(tmp_path / 'bag', version=9, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        link = writer.add_connection('/joint_states', JOINT_STATE, typestore=TYPES)
        for time, data in encoded(states):
            writer.write(link, time, data)
    recording = read_recording(tmp_path / 'bag')
    np.testing.assert_array_equal(recording.torque, [s.effort for _, s in states])


def test_joints_are_matched_by_name_in_every_message(tmp_path):
    states = []
    for index in range(20):
        values = {'a': 1.0 + index, 'b': 100.0 + index, 'c': -index - 1.0}
        names = ['a', 'b', 'c'] if index % 2 else ['c', 'a', 'b']
        row = [values[name] for name in names]
        stamp = START + index * 10**6
        states.append((stamp, message(stamp, names, row, row, row)))
    bag = write_bag(tmp_path / 'bag', encoded(states))
    recording = read_recording(bag, joints=['b', 'c'])
    expected = [[100.0 + index, -index - 1.0] for index in range(20)]
    np.testing.assert_array_equal(recording.position, expected)
    np.testing.assert_array_equal(recording.torque, expected)
    everything = read_recording(bag)
    assert everything.joints == ('c', 'a', 'b')
    np.testing.assert_array_equal(everything.select(['b', 'c']).torque, expected)


def robot_and_gripper(tmp_path):
    states = wave(50)
    gripper = [
        (time + 500, message(time + 500, ['finger'], [0.01 * index], [0.0], [1.0]))
        for index, (time, _) in enumerate(states)
    ]
    both = sorted([*states, *gripper], key=lambda entry: entry[0])
    return states, write_bag(tmp_path / 'bag', encoded(both))


def test_messages_of_another_publisher_are_left_out(tmp_path):
    states, bag = robot_and_gripper(tmp_path)
    recording = read_recording(bag, joints=['a', 'b'])
    assert len(recording) == 50
    np.testing.assert_array_equal(recording.torque, [s.effort for _, s in states])
    assert codes(recording) == ['other_messages']
    assert '50 messages' in recording.findings[0].text
    assert 'finger' in recording.findings[0].text


def test_a_joint_that_no_message_has(tmp_path):
    _, bag = robot_and_gripper(tmp_path)
    with pytest.raises(
        RecordingError, match=r"joint 'x' is not in the recording, which has .*'a'"
    ):
        read_recording(bag, joints=['a', 'x'])


def test_an_absent_topic_names_those_there_are(tmp_path):
    bag = write_bag(tmp_path / 'bag', encoded(wave(5)), topic='/ur/joint_states')
    with pytest.raises(
        MissingSignalError, match=r"'/joint_states' is not in the bag.*'/ur/joint_st"
    ):
        read_recording(bag, topic='/joint_states')
    assert len(read_recording(bag, topic='ur/joint_states')) == 5


def test_a_topic_of_another_type(tmp_path):
    with Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        link = writer.add_connection('/joint_states', 'std_msgs/msg/Bool', typestore=TYPES)
        writer.write(link, 1, b'\0\1\0\0\1')
    with pytest.raises(RecordingError, match=r"has the type 'std_msgs/msg/Bool'; it has no topic"):
        read_recording(tmp_path / 'bag')


@pytest.mark.parametrize('plugin', PLUGINS)
def test_an_empty_bag(tmp_path, plugin):
    bag = write_bag(tmp_path / 'bag', [], plugin=plugin)
    with pytest.raises(RecordingError, match="no message on '/joint_states'"):
        read_recording(bag)


def test_zero_stamps_fall_back_to_the_time_in_the_bag(tmp_path):
    states = [(time, message(0, s.name, s.position, s.velocity, s.effort)) for time, s in wave(9)]
    recording = read_recording(write_bag(tmp_path / 'bag', encoded(states)))
    np.testing.assert_allclose(recording.time, np.arange(9) * 0.002, atol=1e-12)
    assert 'bag_time_used' in codes(recording)


def test_late_messages_are_dropped_many_are_an_error(tmp_path):
    states = wave(300)
    states[100], states[101] = states[101], states[100]
    recording = read_recording(write_bag(tmp_path / 'bag', encoded(states)))
    assert 'late_samples' in codes(recording)
    assert len(recording) == 299
    assert 'sample 100' in recording.findings[0].text
    shuffled = [states[index ^ 1] for index in range(300)]
    with pytest.raises(RecordingError, match='time goes back at sample 1 '):
        read_recording(write_bag(tmp_path / 'other', encoded(shuffled)))


@pytest.mark.parametrize('plugin', PLUGINS)
@pytest.mark.parametrize('share', [0.3, 0.9])
def test_a_cut_off_file_is_read_as_far_as_it_goes(tmp_path, plugin, share):
    states = wave(4000)
    bag = write_bag(tmp_path / 'bag', encoded(states), plugin=plugin)
    file = storage(bag)
    os.truncate(file, int(share * file.stat().st_size))
    recording = read_recording(file)
    assert 0.5 * share * 4000 < len(recording) <= 4000
    kept = {stamp: state.effort for stamp, state in states}
    stamps = recording.origin + np.rint(recording.time * 1e9).astype(int)
    np.testing.assert_array_equal(recording.torque, [kept[stamp] for stamp in stamps])
    assert 'damaged_bag' in codes(recording)


@pytest.mark.parametrize('plugin', PLUGINS)
def test_a_folder_without_metadata(tmp_path, plugin):
    bag = write_bag(tmp_path / 'bag', encoded(wave(20)), plugin=plugin)
    (bag / 'metadata.yaml').unlink()
    recording = read_recording(bag)
    assert len(recording) == 20
    assert 'metadata.yaml is missing' in recording.findings[0].text


def test_several_files_in_the_order_of_metadata(tmp_path):
    states = wave(60)
    parts = [states[:20], states[20:40], states[40:]]
    bag = write_bag(tmp_path / 'bag', encoded(parts[0]))
    for number in (1, 2):
        extra = write_bag(tmp_path / f'part{number}', encoded(parts[number]))
        storage(extra).rename(bag / f'z{3 - number}.mcap')  # names sort the other way round
    text = (bag / 'metadata.yaml').read_text()
    listed = '- bag.mcap\n  - z2.mcap\n  - z1.mcap'
    (bag / 'metadata.yaml').write_text(text.replace('- bag.mcap', listed))
    recording = read_recording(bag)
    np.testing.assert_array_equal(recording.torque, [s.effort for _, s in states])
    (bag / 'z1.mcap').unlink()
    assert 'z1.mcap is missing' in read_recording(bag).findings[0].text


def test_a_database_whose_writer_was_killed(tmp_path):
    bag = write_bag(tmp_path / 'bag', encoded(wave(20)), plugin=StoragePlugin.SQLITE3)
    file = storage(bag)
    writer = sqlite3.connect(file)
    writer.execute('PRAGMA journal_mode=WAL')
    (topic, data) = writer.execute('SELECT topic_id, data FROM messages').fetchone()
    late = bytearray(data)
    late[4:8] = (1_700_000_001).to_bytes(4, 'little')
    row = (topic, START + 10**9, bytes(late))
    writer.execute('INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)', row)
    writer.commit()
    assert Path(f'{file}-wal').stat().st_size
    assert len(read_recording(bag)) == 21
    writer.close()


@pytest.mark.parametrize('named', [None, ['b', 'a']])
def test_the_motors_of_joints_come_as_joints_of_the_same_messages(tmp_path, named):
    rows = np.random.default_rng(5).normal(size=(50, 2))
    states = []
    for index, row in enumerate(rows):
        stamp = START + index * 10**6
        position = [row[0], 50.0 * row[0], row[1], 50.0 * row[1]]
        speed = [1.0, 2.0, 3.0, 4.0]
        effort = [5.0, np.nan, 6.0, np.nan]  # the broadcaster fills what a motor does not have
        names = ['a', 'a_motor', 'b', 'b_motor']
        states.append((stamp, message(stamp, names, position, speed, effort)))
    bag = write_bag(tmp_path / 'bag', encoded(states))
    recording = read_recording(bag, joints=named, columns={'gear_ratio': 50.0})
    order = [0, 1] if named is None else [1, 0]
    assert recording.joints == tuple('ab'[index] for index in order)
    np.testing.assert_allclose(recording.motor_position, rows[:, order])
    np.testing.assert_allclose(recording.motor_velocity[0], np.array([2.0, 4.0])[order] / 50.0)
    assert recording.torque[0].tolist() == [[5.0, 6.0][index] for index in order]
