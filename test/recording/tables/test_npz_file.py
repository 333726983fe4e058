# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.npz_file import read_npz


def test_matrices_and_joint_names(tmp_path):
    path = tmp_path / 'a.npz'
    positions = np.arange(6.0).reshape(3, 2)
    np.savez(path, positions=positions, times=np.arange(3), joint_names=['a', 'b'], note='text')
    table = read_npz(path)
    assert table.joints == ('a', 'b')
    assert set(table.columns) == {'positions', 'times'}
    np.testing.assert_array_equal(table.columns['positions'], positions)


def test_a_single_array_is_no_archive(tmp_path):
    path = tmp_path / 'a.npz'
    with path.open('wb') as file:
        np.save(file, np.zeros(3))
    with pytest.raises(RecordingError, match='cannot be read as NPZ: File is not a zip file'):
        read_npz(path)


def test_names_that_are_no_text_are_a_sentence(tmp_path):
    path = tmp_path / 'a.npz'
    # 0xFFFFFFFF is no character: numpy makes one of it only when the name is used
    names = np.full(2, 0xFFFFFFFF, dtype=np.uint32).view('<U1')
    np.savez(path, positions=np.zeros((3, 2)), joint_names=names)
    with pytest.raises(RecordingError, match=r'a\.npz: it cannot be read as NPZ'):
        read_npz(path)
