# SPDX-License-Identifier: Apache-2.0
import errno

import pytest
import yaml
from rosbags.rosbag2 import Reader

from robodyn_ros.recording.bags.bag_folder import finish_bag
from robodyn_ros.recording.bags.joint_state_bag import TYPE_HASH, joint_state_topic
from robodyn_ros.recording.bags.mcap_writer import McapWriter


def bag(folder):
    topics = [joint_state_topic(name) for name in ('/one', '/two')]
    writer = McapWriter(folder / 'a_0.mcap', topics)
    for time, topic in ((1_000, 0), (3_000, 1), (7_000, 1)):
        writer.add(b'data', time, topic)
    writer.flush()
    return writer


def test_a_folder_with_its_metadata_is_a_rosbag2(tmp_path):
    finish_bag(bag(tmp_path), tmp_path, {'key': 'value'})
    with Reader(tmp_path) as reader:
        assert {link.topic: link.msgcount for link in reader.connections} == {'/one': 1, '/two': 2}
        assert {link.digest for link in reader.connections} == {TYPE_HASH}
        assert (reader.start_time, reader.message_count) == (1_000, 3)
    content = yaml.safe_load((tmp_path / 'metadata.yaml').read_text())
    facts = content['rosbag2_bagfile_information']
    assert facts['custom_data'] == {'key': 'value'} and facts['version'] == 9
    assert facts['duration'] == {'nanoseconds': 6_000}
    assert sorted(path.name for path in tmp_path.iterdir()) == ['a_0.mcap', 'metadata.yaml']


def test_no_facts_are_no_custom_data_and_failures_are_told(tmp_path):
    finish_bag(bag(tmp_path), tmp_path, {})
    text = (tmp_path / 'metadata.yaml').read_text()
    assert yaml.safe_load(text)['rosbag2_bagfile_information']['custom_data'] is None
    assert '&' not in text and '*' not in text  # rosbag2 reads no YAML anchors
    other = tmp_path / 'other'
    other.mkdir()
    writer = bag(other)
    with pytest.raises(OSError, match='nowhere') as error:
        finish_bag(writer, tmp_path / 'nowhere', {})
    assert error.value.errno == errno.ENOENT
