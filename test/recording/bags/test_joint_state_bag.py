# SPDX-License-Identifier: Apache-2.0
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from bags import JOINT_STATE, TYPES, cdr, message, wave
from rosbags.rosbag2 import Reader
from small_disk import small_disk

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.commands import references
from robodyn_ros.recording.bags.joint_state_bag import DEFINITION, TYPE_HASH, JointStateBag
from robodyn_ros.recording.readers import read_recording

SECOND = 10**9


def test_definition_and_hash_are_those_of_jazzy():
    assert TYPES.generate_msgdef(JOINT_STATE, ros_version=2)[0].strip() == DEFINITION.strip()
    assert TYPES.hash_rihs01(JOINT_STATE) == TYPE_HASH


def test_rosbags_and_our_reader_read_it(tmp_path):
    states = wave(2000)
    with JointStateBag(tmp_path / 'bag', topic='/arm/joint_states') as bag:
        for time, state in states:
            bag.add(cdr(state), time)
        assert bag.statistics.messages == 2000
    with Reader(tmp_path / 'bag') as reader:
        (link,) = reader.connections
        assert (link.topic, link.msgtype, link.digest) == (
            '/arm/joint_states',
            JOINT_STATE,
            TYPE_HASH,
        )
        assert (reader.message_count, reader.start_time) == (2000, states[0][0])
        found = [(time, bytes(data)) for _, time, data in reader.messages()]
    assert found == [(time, cdr(state)) for time, state in states]
    recording = read_recording(tmp_path / 'bag', topic='/arm/joint_states')
    np.testing.assert_array_equal(recording.torque, [s.effort for _, s in states])
    assert recording.findings == ()


def test_commanded_positions_are_a_topic_of_their_own(tmp_path):
    with JointStateBag(tmp_path / 'bag') as bag:
        bag.add(cdr(message(SECOND - 1, ['a'], [1.0], [0.0], [0.0])), SECOND - 1)
        bag.flush()  # a chunk without the other topic
        assert bag.statistics.commands == 0
        for index in range(20):
            for add, value in ((bag.add, 1.0), (bag.add_command, 2.0)):
                add(cdr(message(SECOND + index, ['a'], [value], [0.0], [0.0])), SECOND + index)
        bag.flush()
        assert (bag.statistics.messages, bag.statistics.commands) == (21, 20)
    assert (bag.statistics.messages, bag.statistics.commands) == (21, 20)
    with Reader(tmp_path / 'bag') as reader:
        assert [link.msgcount for link in reader.connections] == [21, 20]
    states, commands = (
        read_recording(tmp_path / 'bag', topic=topic).position[:, 0].tolist()
        for topic in ('/joint_states', '/recorder/reference')
    )
    assert (states, commands) == ([1.0] * 21, [2.0] * 20)
    found = [value for _, value in references(tmp_path / 'bag', '/recorder/reference', ('a',), 0)]
    assert found == [[2.0]] * 20


def test_statistics_tell_gaps_and_late_stamps(tmp_path):
    stamps = [index * 2_000_000 + SECOND for index in range(1000)]
    del stamps[501:505]
    stamps[700] = stamps[699]
    with JointStateBag(tmp_path / 'bag') as bag:
        for stamp in stamps:
            bag.add(cdr(message(stamp, ['a'], [stamp % 9.0], [0.0], [2.0])), 5 * SECOND + stamp)
            # a gripper on the same topic, ten times slower, must not look like gaps
            if stamp % 20_000_000 == 0:
                bag.add(cdr(message(stamp, ['finger'], [1.0], [0.0], [2.0])), 5 * SECOND + stamp)
        found = bag.statistics
    assert found.missing == 4 + 1
    assert found.late == 1
    assert found.largest_gap == pytest.approx(0.020)
    assert found.duration == pytest.approx(999 * 0.002)
    assert bag.statistics == found


def test_an_existing_folder_is_kept(tmp_path):
    with pytest.raises(RecordingError, match='exists already'):
        JointStateBag(tmp_path)
    (tmp_path / 'file').write_text('')
    with pytest.raises(RecordingError, match='cannot be created'):
        JointStateBag(tmp_path / 'file' / 'bag')


def run(code, *arguments, **options):
    command = [sys.executable, '-c', textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


RECORD = """
    import struct, sys, time
    from robodyn_ros.errors import RecordingError
    from robodyn_ros.recording.bags.joint_state_bag import JointStateBag
    data = bytearray.fromhex(sys.argv[2])
    bag = JointStateBag(sys.argv[1])
    for index in range(1, 100_000):
        struct.pack_into('<iI', data, 4, index // 500, index % 500 * 2_000_000)
        try:
            bag.add(bytes(data), index * 2_000_000)
        except RecordingError as error:
            print(error, flush=True)
            break
        if len(sys.argv) > 3 and index == int(sys.argv[3]):
            print('written', flush=True)
            time.sleep(60)
    bag.add(bytes(data), 1)
    bag.close()
    """
DATA = cdr(wave(1)[0][1]).hex()


def test_a_killed_recorder_leaves_all_but_the_last_second(tmp_path):
    process = run(RECORD, tmp_path / 'bag', DATA, 2300)
    try:
        assert process.stdout.readline() == 'written\n'
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    recording = read_recording(tmp_path / 'bag')
    assert 1800 <= len(recording) <= 2300
    assert 'damaged_bag' in [finding.code for finding in recording.findings]


def test_a_full_disk_ends_in_a_whole_bag(tmp_path):
    with small_disk(tmp_path / 'disk', 2**21) as disk:
        process = run(RECORD, disk / 'bag', DATA)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert 'recording ended, No space left on device; ' in output
        count = int(output.split('; ')[1].split()[0])
        with Reader(disk / 'bag') as reader:
            assert reader.message_count == count == sum(1 for _ in reader.messages())
        assert count > 7000
