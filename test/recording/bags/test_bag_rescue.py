# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from bags import cdr, wave
from rosbags.rosbag2 import Reader

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.bag_metadata import bag_metadata
from robodyn_ros.recording.bags.bag_rescue import rescue_bag
from robodyn_ros.recording.bags.joint_state_bag import JointStateBag
from robodyn_ros.recording.readers import read_recording


def left_open(path, count):
    """A bag as a recorder that was killed leaves it: with its last chunk cut off."""
    states = wave(count)
    bag = JointStateBag(path, topic='/arm/joint_states', metadata={'key': 'value'})
    for time, state in states:
        bag.add(cdr(state), time)
    bag.flush()
    bag._writer._file.close()
    (file,) = path.glob('*.mcap')
    file.write_bytes(file.read_bytes()[:-100])
    return [state.effort for _, state in states]


def test_every_reader_reads_what_was_rescued(tmp_path):
    path = tmp_path / 'bag'
    effort = left_open(path, 3000)
    (path / 'notes.txt').write_text('mine')
    count = rescue_bag(path)
    assert 1000 < count <= 3000
    with Reader(path) as reader:
        assert reader.message_count == count
        assert [link.topic for link in reader.connections] == ['/arm/joint_states']
    recording = read_recording(path, topic='/arm/joint_states')
    np.testing.assert_array_equal(recording.torque, effort[:count])
    assert recording.findings == () and bag_metadata(path) == {'key': 'value'}
    names = sorted(item.name for item in path.iterdir())
    assert names == ['bag_0.mcap', 'metadata.yaml', 'notes.txt']
    assert [item.name for item in tmp_path.iterdir()] == ['bag']
    with pytest.raises(RecordingError, match='not a bag that was left open'):
        rescue_bag(path)


def test_what_is_no_bag_is_left_alone(tmp_path):
    (tmp_path / 'x_0.mcap').write_bytes(b'mine')
    with pytest.raises(RecordingError, match='no joint states'):
        rescue_bag(tmp_path)
    assert (tmp_path / 'x_0.mcap').read_bytes() == b'mine'
    with pytest.raises(RecordingError, match='not a bag'):
        rescue_bag(tmp_path / 'nothing')
