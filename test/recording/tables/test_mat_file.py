# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from scipy.io import savemat

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables import mat_file
from robodyn_ros.recording.tables.mat_file import read_mat


def test_variables_structs_and_names(tmp_path):
    path = tmp_path / 'a.mat'
    names = np.array(['a', 'b'], dtype=object)
    content = {'q': np.ones((3, 2)), 'log': {'tau': np.zeros((3, 2)), 'unit': 'Nm'}, 'gtau': 35.0}
    savemat(path, {**content, 'joint_names': names}, do_compression=True)
    table = read_mat(path)
    assert set(table.columns) == {'q', 'log.tau', 'gtau'}
    assert table.columns['gtau'].item() == 35.0
    assert table.joints == ('a', 'b')


def test_a_damaged_version_7_3_is_a_sentence(tmp_path):
    path = tmp_path / 'a.mat'
    head = b'MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  1 00:00:00 2024 HDF5'
    path.write_bytes(head.ljust(124) + b'\x00\x02IM' + b'\x89HDF\r\n\x1a\n' + bytes(200))
    with pytest.raises(RecordingError, match=r'version 7\.3, but its HDF5 part is damaged'):
        read_mat(path)


def test_a_crash_of_the_reader_is_a_sentence(tmp_path, monkeypatch):
    crash = tmp_path / 'crash.py'
    crash.write_text('import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n')
    monkeypatch.setattr(mat_file, 'READER', crash)
    path = tmp_path / 'a.mat'
    savemat(path, {'q': np.ones(3)})
    with pytest.raises(RecordingError, match='it is damaged: its reader ended with SIGSEGV'):
        read_mat(path)
