# SPDX-License-Identifier: Apache-2.0
import yaml
from bags import JOINT_STATE, TYPES, cdr, wave
from rosbags.rosbag2 import StoragePlugin, Writer

from robodyn_ros.recording.bags.bag_metadata import bag_metadata
from robodyn_ros.recording.bags.joint_state_bag import JointStateBag

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
