# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from writers import write_csv, write_rosbag

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording import storage
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.storage import Spool, all_usable, blockwise, extremes, release, sweep
from robodyn_ros.recording.topics import decoder

VALUES = np.random.default_rng(0).normal(size=(1000, 3))


@pytest.fixture(params=['memory', 'file'])
def small(request, monkeypatch):
    """Blocks of few rows, kept in memory or in a file."""
    monkeypatch.setattr(storage, 'BLOCK', 128)
    if request.param == 'file':
        monkeypatch.setattr(storage, 'KEPT', 1000)
    return request.param


def spooled(values=VALUES):
    spool = Spool(values.shape[1:], values.dtype)
    for first in range(0, len(values), 77):
        spool.append(values[first : first + 77])
    return spool.array()


def test_what_is_appended_comes_back_read_only(small):
    whole = spooled()
    np.testing.assert_array_equal(whole, VALUES)
    assert not whole.flags.writeable
    np.testing.assert_array_equal(spooled(np.arange(500)), np.arange(500))
    assert Spool((4,)).array().shape == (0, 4)


def test_appended_rows_are_copied(small):
    spool, buffer = Spool((2,)), np.ones((100, 2))
    spool.append(buffer)
    buffer[:] = 2.0
    spool.append(buffer)
    assert spool.array().mean() == 1.5


def test_sweeps_meet_every_row_once_and_overlap(small):
    whole = spooled()
    assert [(rows.start, rows.stop) for rows in sweep(whole)][-2:] == [(768, 896), (896, 1000)]
    blocks = [(rows.start, rows.stop) for rows in sweep(VALUES[:256], overlap=1)]
    assert blocks == [(0, 129), (128, 256)]
    steps = np.concatenate([np.diff(whole[rows], axis=0) for rows in sweep(whole, overlap=1)])
    np.testing.assert_array_equal(steps, np.diff(VALUES, axis=0))


def test_blockwise_is_what_the_function_is_on_all_rows(small):
    whole, keep = spooled(), VALUES[:, 0] > 0.0
    found = blockwise(lambda part, rows: 2.0 * part[rows], whole, keep)
    np.testing.assert_array_equal(found, 2.0 * VALUES[keep])
    low, high = extremes(whole)
    np.testing.assert_array_equal([low, high], [VALUES.min(axis=0), VALUES.max(axis=0)])
    holes = VALUES.copy()
    holes[[3, 700, 800], [1, 2, 0]] = np.nan, np.inf, -2e15
    np.testing.assert_array_equal(np.flatnonzero(~all_usable(whole, holes)), [3, 700, 800])
    stamps = np.append(np.nan, np.ones(999))
    np.testing.assert_array_equal(np.flatnonzero(~all_usable(stamps, whole)), [0])


def test_released_arrays_hold_the_same_numbers(small):
    whole = spooled()
    release(whole, whole.T[1, ::2], None, np.ones(3))
    np.testing.assert_array_equal(whole, VALUES)


def test_no_folder_for_temporary_files_is_told(monkeypatch, recording, tmp_path):
    from scipy.io import savemat

    def no_folder(*_):
        raise FileNotFoundError(2, 'No usable temporary directory found')

    path = tmp_path / 'a.mat'
    savemat(path, {'time': recording.time, 'q': recording.position, 'tau': recording.torque})
    monkeypatch.setattr(storage, 'KEPT', 1000)
    monkeypatch.setattr(tempfile, 'tempdir', None)
    monkeypatch.setattr(tempfile, '_get_default_tempdir', no_folder)
    # It is no fault of the file.
    with pytest.raises(RecordingError, match=r'^no folder: a long recording needs space'):
        read_recording(path)


def test_a_full_disk_is_no_damage_of_a_bag(monkeypatch, recording, tmp_path):
    write_rosbag(recording, tmp_path / 'bag')

    def full(**_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(storage, 'KEPT', 1000)
    monkeypatch.setattr(decoder, 'BLOCK', 100)
    monkeypatch.setattr(tempfile, 'TemporaryFile', full)
    with pytest.raises(RecordingError, match=r'a long recording needs space .*No space left'):
        read_recording(tmp_path / 'bag')


@pytest.fixture
def recording():
    time = 0.001 * np.arange(1000)
    return Recording(time=time, joints=('a', 'b', 'c'), position=VALUES, torque=VALUES**2)


@pytest.mark.parametrize('form', ['csv', 'npz', 'columns', 'bag', 'mat'])
def test_every_reader_gives_the_same_from_a_file(small, recording, form, tmp_path):
    from scipy.io import savemat

    path = tmp_path / f'a.{form}'
    arrays = {'time': recording.time, 'q': recording.position, 'tau': recording.torque}
    if form == 'csv':
        write_csv(recording, path)
    elif form == 'bag':
        write_rosbag(recording, path)
    elif form == 'mat':
        savemat(path, arrays)
    else:
        path = tmp_path / 'a.npz'
        order = {'npz': 'C', 'columns': 'F'}[form]
        np.savez_compressed(path, **{k: np.array(v, order=order) for k, v in arrays.items()})
    found = read_recording(path, joints=('a', 'b', 'c'))
    np.testing.assert_allclose(found.time, recording.time, atol=1e-12)
    np.testing.assert_array_equal(found.position, recording.position)
    np.testing.assert_array_equal(found.torque, recording.torque)
    turned = found.select(('c', 'a'))
    np.testing.assert_array_equal(turned.position, recording.position[:, [2, 0]])


READ = """
import re, sys
from robodyn_ros.recording.readers import read_recording
def peak():  # of this program alone; ru_maxrss has that of the parent too
    with open('/proc/self/status') as file:
        return int(re.search(r'VmHWM:\\s*(\\d+) kB', file.read())[1])
read_recording(sys.argv[1])  # what reading imports
before = peak()
found = read_recording(sys.argv[2])
print(peak() - before, len(found))
"""


@pytest.mark.skipif(sys.platform != 'linux', reason='memory is measured as Linux tells it')
def test_a_long_recording_does_not_fill_memory(tmp_path):
    count, width = 400_000, 25  # 80 MB per signal
    small, large = tmp_path / 'small.npz', tmp_path / 'large.npz'
    np.savez(small, time=np.arange(9.0), q=np.arange(9.0), tau=np.arange(9.0) ** 2)
    wave = (np.arange(count * width) % 1009.0).reshape(count, width)
    np.savez(large, time=np.arange(count) * 1e-3, q=wave, tau=-wave)
    command = [sys.executable, '-c', READ, str(small), str(large)]
    root = Path(__file__).resolve().parents[2]
    output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root).stdout
    kilobytes, samples = map(int, output.split())
    assert samples == count
    # 163 MB are read, and one signal at a time is in memory.
    assert kilobytes < 130_000
