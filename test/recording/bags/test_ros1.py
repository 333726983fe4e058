# SPDX-License-Identifier: Apache-2.0
"""Bags as users have them: of ROS 1, with JSON, with other messages that have joint states."""

import json
from pathlib import Path

import numpy as np
import pytest
import zstandard
from bags import cdr, message, wave, write_bag
from mcap.writer import Writer as McapWriter
from rosbags.rosbag1 import Writer as Ros1Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.recording.bags import compression
from robodyn_ros.recording.bags.commands import command_topic, read_commands, references
from robodyn_ros.recording.bags.topic_bag import topic_types
from robodyn_ros.recording.readers import read_recording, recording_format

KIND = 'sensor_msgs/msg/JointState'
STATE = 'control_msgs/msg/JointTrajectoryControllerState'
TRAJECTORY = """std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
"""
START = 1_700_000_000 * 10**9
TIME = np.arange(60) * 0.01
Q = np.column_stack([np.sin(TIME), np.cos(TIME)])


def noetic():
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg(TRAJECTORY, STATE))
    return store


def header(store, k):
    seconds, rest = divmod(START + k * 10**7, 10**9)
    stamp = store.types['builtin_interfaces/msg/Time'](seconds, rest)
    return store.types['std_msgs/msg/Header'](k, stamp, 'base')


def joint_states(store):
    make = store.types[KIND]
    for k, q in enumerate(Q):
        yield store.serialize_ros1(make(header(store, k), ['a', 'b'], q, 2.0 * q, 3.0 * q), KIND)


def trajectory_states(store):
    none = np.array([])
    duration = store.types['builtin_interfaces/msg/Duration'](0, 5)
    point = store.types['trajectory_msgs/msg/JointTrajectoryPoint']
    for k, q in enumerate(Q):
        points = (
            point(q + 0.1, none, none, none, duration),
            point(q, 2.0 * q, none, 3.0 * q, duration),
            point(0.0 * q, none, none, none, duration),
        )
        each = store.types[STATE](header(store, k), ['a', 'b'], *points)
        yield store.serialize_ros1(each, STATE)


def write_ros1(path: Path, compression=None):
    store = noetic()
    writer = Ros1Writer(path)
    if compression:
        writer.set_compression(compression)
    with writer:
        states = writer.add_connection('/joint_states', KIND, typestore=store)
        commands = writer.add_connection('/arm/state', STATE, typestore=store)
        pairs = zip(joint_states(store), trajectory_states(store), strict=True)
        for k, (state, command) in enumerate(pairs):
            writer.write(states, START + k * 10**7, state)
            writer.write(commands, START + k * 10**7, command)
    return path


def write_mcap(path: Path, kind: str, text: str, encodings: tuple[str, str], messages, topic):
    with path.open('wb') as file:
        writer = McapWriter(file)
        writer.start()
        schema = writer.register_schema(kind, encodings[0], text.encode())
        channel = writer.register_channel(topic, encodings[1], schema)
        for k, data in enumerate(messages):
            writer.add_message(channel, START + k * 10**7, bytes(data), START + k * 10**7)
        writer.finish()
    return path


def check(recording):
    assert recording.joints == ('a', 'b')
    assert recording.origin == START
    np.testing.assert_allclose(recording.time, TIME, atol=1e-12)
    np.testing.assert_allclose(recording.position, Q)
    np.testing.assert_allclose(recording.velocity, 2.0 * Q)
    np.testing.assert_allclose(recording.torque, 3.0 * Q)


@pytest.mark.parametrize(
    'form', [None, Ros1Writer.CompressionFormat.BZ2, Ros1Writer.CompressionFormat.LZ4]
)
def test_a_bag_of_ros_1(tmp_path, form):
    path = write_ros1(tmp_path / 'a.bag', form)
    assert recording_format(path) == 'rosbag1'
    check(read_recording(path))
    check(read_recording(path, topic='/arm/state'))
    topic = command_topic(topic_types(path), None, str(path))
    assert topic == '/arm/state'
    np.testing.assert_allclose(read_commands(path, topic, ('b', 'a')).signals[0], Q[:, ::-1] + 0.1)
    told = list(references(path, topic, ('a', 'b'), START))
    np.testing.assert_allclose([row for _, row in told], Q + 0.1)
    np.testing.assert_allclose([time for time, _ in told], TIME, atol=1e-6)


def test_a_chunk_that_expands_without_end_is_refused(tmp_path, monkeypatch):
    path = write_ros1(tmp_path / 'a.bag', Ros1Writer.CompressionFormat.BZ2)
    monkeypatch.setattr(compression.decompress, '__defaults__', (1000,))
    with pytest.raises(RecordingError, match='expected 1000 bytes, got more'):
        read_recording(path)


def test_a_damaged_bag_of_ros_1(tmp_path):
    path = write_ros1(tmp_path / 'a.bag')
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(RecordingError, match=r'a\.bag: the bag cannot be read: a\.bag: \w'):
        read_recording(path)


def test_messages_of_ros_1_in_mcap(tmp_path):
    store = noetic()
    text = store.generate_msgdef(KIND, ros_version=1)[0]
    path = tmp_path / 'a.mcap'
    messages = [*joint_states(store)]
    write_mcap(
        path, 'sensor_msgs/JointState', text, ('ros1msg', 'ros1'), messages, '/joint_states'
    )
    check(read_recording(path))
    text = store.generate_msgdef(STATE, ros_version=1)[0]
    kind = 'control_msgs/JointTrajectoryControllerState'
    messages = [*trajectory_states(store), b'nonsense']
    write_mcap(path, kind, text, ('ros1msg', 'ros1'), messages, '/state')
    found = read_recording(path)
    check(found)
    assert sorted(item.code for item in found.findings) == ['damaged_messages', 'topic_chosen']


def json_messages():
    for k, q in enumerate(Q):
        seconds, rest = divmod(START + k * 10**7, 10**9)
        head = {'header': {'frame_id': '', 'stamp': {'sec': seconds, 'nanosec': rest}}}
        p, v, t = q.tolist(), (2.0 * q).tolist(), (3.0 * q).tolist()
        yield head | {'name': ['a', 'b'], 'position': p, 'velocity': v, 'effort': t}


def test_joint_states_in_json(tmp_path):
    text = '{"type": "object", "properties": {"position": {"type": "array"}}}'
    messages = [json.dumps(each).encode() for each in json_messages()]
    messages[20:20] = [b'{}', b'{"name": ["a"], "position": [1, 2]}', b'[', b'nan', b'\xff']
    path = tmp_path / 'a.mcap'
    write_mcap(path, KIND, text, ('jsonschema', 'json'), messages, '/states')
    found = read_recording(path)
    check(found)
    damaged = next(item for item in found.findings if item.code == 'damaged_messages')
    assert damaged.text.startswith('5 messages')


@pytest.mark.parametrize('suffix', ['.zstd', '.zst'])
def test_a_compressed_mcap_file(tmp_path, suffix):
    write_bag(tmp_path / 'bag', [(time, cdr(state)) for time, state in wave(20)])
    plain = tmp_path / 'bag' / 'bag.mcap'
    path = tmp_path / f'a.mcap{suffix}'
    path.write_bytes(zstandard.compress(plain.read_bytes()))
    found = read_recording(path)
    np.testing.assert_array_equal(found.torque, read_recording(plain).torque)
    assert found.source == str(path)
    path.write_bytes(b'no zstd')
    with pytest.raises(RecordingError, match=f'a.mcap{suffix}: the bag cannot be read'):
        read_recording(path)


def test_json_without_joint_states_is_no_recording(tmp_path):
    path = tmp_path / 'a.mcap'
    text = '{"properties": {"x": {}}}'
    write_mcap(path, 'Pose', text, ('jsonschema', 'json'), [b'{"x": 1}'], '/pose')
    with pytest.raises(MissingSignalError, match='no topic with joint states'):
        read_recording(path)


def test_the_time_in_the_bag_counts_for_json_without_stamps(tmp_path):
    bare = [json.dumps({k: v for k, v in each.items() if k != 'header'}).encode()
            for each in json_messages()]  # fmt: skip
    path = tmp_path / 'a.mcap'
    text = '{"properties": {"name": {}, "position": {}}}'
    write_mcap(path, 'JointState', text, ('jsonschema', 'json'), bare, '/joint_states')
    found = read_recording(path)
    check(found)
    assert [item.code for item in found.findings] == ['bag_time_used']


def test_a_message_that_is_no_joint_state_is_counted(tmp_path):
    states = [(time, cdr(state)) for time, state in wave(20)]
    states.insert(3, (START, cdr(message(START, ['a', 'a'], [1, 2], [], []))))
    found = read_recording(write_bag(tmp_path / 'bag', states))
    assert [item.code for item in found.findings] == ['damaged_messages']
