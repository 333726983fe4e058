# SPDX-License-Identifier: Apache-2.0

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.tables import array_file
from robodyn_ros.recording.tables.array_file import read_mat, read_npz


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
    with pytest.raises(RecordingError, match='it cannot be read as MAT: it is damaged'):
        read_mat(path)


@pytest.mark.parametrize(
    ('program', 'message'),
    [
        ('import os\nos.kill(os.getpid(), 11)', 'it is damaged: its reader ended by 11'),
        ('bytearray(10**11)', 'reading it takes more than 1074 MB of memory'),
    ],
)
def test_a_crash_or_too_much_memory_of_the_reader_is_a_sentence(
    tmp_path, monkeypatch, program, message
):
    monkeypatch.setattr(array_file, 'LOAD', program)
    path = tmp_path / 'a.mat'
    savemat(path, {'q': np.ones(3)})
    with pytest.raises(RecordingError, match=message):
        read_mat(path)


def test_units_in_attributes_and_links_that_lead_nowhere(tmp_path):
    path = tmp_path / 'a.h5'
    with h5py.File(path, 'w') as file:
        file['lost'], file['far'] = h5py.SoftLink('/x'), h5py.ExternalLink('no.h5', '/')
        for name, unit in (('t', 'milliseconds'), ('q', b'degrees'), ('tau', 'N.m')):
            file['log/' + name] = np.arange(40.0)
            file['log/' + name].attrs['units'] = unit
        file['log/t'].attrs['unit'] = 'ms'
    recording = read_recording(path)
    np.testing.assert_allclose(recording.time, 1e-3 * np.arange(40))
    np.testing.assert_allclose(recording.position[:, 0], np.radians(np.arange(40)))
    with h5py.File(path, 'a') as file:
        file['log/tau'].attrs['units'] = 'lbf in'
    with pytest.raises(RecordingError, match="the unit 'lbf in' of column 'log/tau' is not known"):
        read_recording(path)


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
