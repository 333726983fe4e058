# SPDX-License-Identifier: Apache-2.0
import json
import tracemalloc

import numpy as np
import pytest
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files import signals_bag
from robodyn_ros.identification.files.signals_bag import TOPICS, write_signals
from robodyn_ros.identification.result.content import ResultSignals
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.thinning import Thinning
from robodyn_ros.recording.bags.bag_metadata import bag_metadata

JOINTS = ('joint1', 'slide')
ORIGIN = 1_700_000_000_000_000_000
TYPES = get_typestore(Stores.ROS2_JAZZY)


def signals(samples=5000, origin=ORIGIN, seed=0):
    random = np.random.default_rng(seed)
    arrays = {
        name: random.normal(size=(samples, 2))
        for name in (
            'position',
            'velocity',
            'acceleration',
            'torque',
            'measured',
            'measured_position',
        )
    }
    mask = np.ones((samples, 2), dtype=bool)
    processed = Processed(
        joints=JOINTS,
        time=0.3 + 0.002 * np.arange(samples),
        used=mask,
        moving=mask,
        threshold=np.ones(2),
        upper_threshold=np.full(2, np.inf),
        resting=~mask,
        cutoff=20.0,
        thinning=Thinning(),
        raw_samples=samples + 10,
        **arrays,
    )
    return ResultSignals(processed, random.normal(size=(samples, 2)), origin)


def read_by_rosbags(path):
    """Stamps and fields of every topic; log times must be the stamps, in order."""
    found = {name: [] for name in TOPICS}
    last = 0
    with Reader(path) as reader:
        assert {link.topic: link.msgtype for link in reader.connections} == dict.fromkeys(
            TOPICS, 'sensor_msgs/msg/JointState'
        )
        for link, time, data in reader.messages():
            message = TYPES.deserialize_cdr(data, link.msgtype)
            assert tuple(message.name) == JOINTS and time >= last
            last = time
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            assert stamp == time
            found[link.topic].append((stamp, message.position, message.velocity, message.effort))
    return found


def test_rosbags_reads_every_signal_exactly(tmp_path):
    kept = signals()
    write_signals(kept, tmp_path / 'identification')
    found = read_by_rosbags(tmp_path / 'identification')
    done = kept.processed
    empty = np.zeros((5000, 0))
    expected = {
        'raw': (done.measured_position, empty, done.measured),
        'filtered': (done.position, done.velocity, done.torque),
        'acceleration': (done.acceleration, empty, empty),
        'model': (empty, empty, kept.predicted),
        'torque_error': (empty, empty, kept.predicted - done.torque),
    }
    stamps = ORIGIN + np.rint(done.time * 1e9).astype(int)
    for name, fields in expected.items():
        rows = found[f'/identification/{name}']
        assert [row[0] for row in rows] == stamps.tolist()
        for column, values in enumerate(fields, start=1):
            np.testing.assert_array_equal([row[column] for row in rows], values)


def test_it_declares_its_efforts_whole_or_without_metadata_file(tmp_path):
    path = tmp_path / 'identification'
    write_signals(signals(100), path)
    expected = {'unit': 'SI', 'side': 'joint', 'gravity': 'included'}
    for _ in range(2):
        assert json.loads(bag_metadata(path)['robodyn_effort']) == expected
        (path / 'metadata.yaml').unlink(missing_ok=True)


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(self, stamps, messages):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(signals_bag.McapWriter, 'add_rows', full)
    with pytest.raises(IdentificationError, match=r'identification: it cannot be .*space'):
        write_signals(signals(50), tmp_path / 'identification')
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_recording(tmp_path):
    peaks = []
    for samples in (3000, 9000):
        kept = signals(samples)
        tracemalloc.start()
        write_signals(kept, tmp_path / f'identification_{samples}')
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Stamps and chunk index grow: 8 bytes a sample and 100 a chunk.
    assert peaks[1] < peaks[0] + 6000 * 40
