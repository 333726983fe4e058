# SPDX-License-Identifier: Apache-2.0
import errno

import pytest
import yaml
from bags import JOINT_STATE, TYPES, cdr, wave
from rosbags.rosbag2 import Reader, StoragePlugin, Writer

from robodyn_ros.recording.bags.bag_metadata import bag_metadata, finish_bag
from robodyn_ros.recording.bags.joint_state_bag import TYPE_HASH, JointStateBag, joint_state_topic
from robodyn_ros.recording.bags.mcap_writer import McapWriter

FACTS = {'robodyn_effort': '{"unit": "Nm"}', 'robot': 'Ä: "1"'}


def bag(folder, metadata=FACTS):
    with JointStateBag(folder, metadata=metadata) as out:
        for stamp, state in wave(50):
            out.add(cdr(state), stamp)
    return folder


def test_facts_are_read_back_from_folder_file_and_either_half_of_a_bag(tmp_path):
    folder = bag(tmp_path / 'bag')
    (file,) = folder.glob('*.mcap')
    assert bag_metadata(folder) == bag_metadata(file) == FACTS
    content = yaml.safe_load((folder / 'metadata.yaml').read_text())
    assert content['rosbag2_bagfile_information']['custom_data'] == FACTS
    (folder / 'metadata.yaml').unlink()
    assert bag_metadata(folder) == FACTS


def test_a_killed_recorder_leaves_them(tmp_path):
    killed = JointStateBag(tmp_path / 'bag', metadata=FACTS)
    for stamp, state in wave(50):
        killed.add(cdr(state), stamp)
    killed.flush()
    assert not (tmp_path / 'bag' / 'metadata.yaml').exists()
    assert bag_metadata(tmp_path / 'bag') == FACTS


def test_custom_data_of_another_recorder_count(tmp_path):
    folder = tmp_path / 'bag'
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        link = writer.add_connection('/joint_states', JOINT_STATE, typestore=TYPES)
        for stamp, state in wave(20):
            writer.write(link, stamp, cdr(state))
        for key, value in FACTS.items():
            writer.set_custom_data(key, value)
    assert bag_metadata(folder) == FACTS
    (file,) = folder.glob('*.mcap')
    assert bag_metadata(file) == FACTS


def test_a_bag_without_facts_has_none(tmp_path):
    assert bag_metadata(bag(tmp_path / 'bag', {})) == {}


def test_what_is_no_bag_or_damaged_holds_none(tmp_path):
    assert bag_metadata(tmp_path / 'none') == {}
    table = tmp_path / 'table.csv'
    table.write_text('time,q_a,tau_a\n')
    assert bag_metadata(table) == {}
    folder = bag(tmp_path / 'bag')
    (file,) = folder.glob('*.mcap')
    (folder / 'metadata.yaml').write_text('[1')
    content = file.read_bytes()
    for end in (4, 20, 60):
        file.write_bytes(content[:end])
        assert bag_metadata(folder) == {}


def unfinished(folder):
    topics = [joint_state_topic(name) for name in ('/one', '/two')]
    writer = McapWriter(folder / 'a_0.mcap', topics)
    for time, topic in ((1_000, 0), (3_000, 1), (7_000, 1)):
        writer.add(b'data', time, topic)
    writer.flush()
    return writer


def test_a_folder_with_its_metadata_is_a_rosbag2(tmp_path):
    finish_bag(unfinished(tmp_path), tmp_path, {'key': 'value'})
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
    finish_bag(unfinished(tmp_path), tmp_path, {})
    text = (tmp_path / 'metadata.yaml').read_text()
    assert yaml.safe_load(text)['rosbag2_bagfile_information']['custom_data'] is None
    assert '&' not in text and '*' not in text  # rosbag2 reads no YAML anchors
    other = tmp_path / 'other'
    other.mkdir()
    writer = unfinished(other)
    with pytest.raises(OSError, match='nowhere') as error:
        finish_bag(writer, tmp_path / 'nowhere', {})
    assert error.value.errno == errno.ENOENT
