# SPDX-License-Identifier: Apache-2.0
import pytest
import yaml
from bags import cdr, wave, write_bag
from rosbags.rosbag2 import StoragePlugin

from robodyn_ros.recording.bags.bag_scan import BagScan, bag_files, is_rosbag


@pytest.mark.parametrize('plugin', list(StoragePlugin))
@pytest.mark.parametrize(
    ('more', 'damage'),
    [(0, []), (1, ['it holds 5 messages of the topic, and 6 by metadata.yaml']), (-1, []),
     (float('inf'), ['metadata.yaml cannot be read'])],
)  # fmt: skip
def test_the_count_is_compared_with_metadata(tmp_path, plugin, more, damage):
    bag = write_bag(tmp_path / 'bag', [(t, cdr(m)) for t, m in wave(5)], plugin=plugin)
    path = bag / 'metadata.yaml'
    content = yaml.safe_load(path.read_text())
    content['rosbag2_bagfile_information']['topics_with_message_count'][0]['message_count'] += more
    path.write_text(yaml.safe_dump(content))
    scan = BagScan(bag, '/joint_states')
    assert len(list(scan.messages())) == scan.count == 5
    assert scan.damage == damage


def test_files_of_a_bag_are_in_the_order_of_their_numbers(tmp_path):
    names = ['bag_0.mcap', 'bag_2.mcap', 'bag_10.mcap']
    for name in (*names, 'notes.txt'):
        (tmp_path / name).touch()
    assert [file.name for file in bag_files(tmp_path)] == names
    assert bag_files(tmp_path / names[0]) == [tmp_path / names[0]]
    assert is_rosbag(tmp_path) and is_rosbag(tmp_path / names[0])
    assert not is_rosbag(tmp_path / 'notes.txt')
