# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import numpy as np
import pytest
from bags import cdr, message, wave, write_bag, write_topics
from rosbags.rosbag2 import StoragePlugin
from scipy.io import savemat

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.long_work import CancelledError, show_progress
from robodyn_ros.recording.readers import read_recording, recording_format

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get('ROBODYN_DATA', ROOT.parent / 'shared' / 'data'))
measured = pytest.mark.skipif(
    not DATA.is_dir(), reason=f'no measured recordings in {DATA} (ROBODYN_DATA)'
)
TIME = np.arange(20) * 0.01
Q = np.stack([np.sin(TIME), np.cos(TIME)], axis=1)


def written(tmp_path, kind):
    path = tmp_path / f'a.{kind}'
    if kind == 'npz':
        np.savez(path, times=TIME, positions=Q, torques=2 * Q, joint_names=['a', 'b'])
    elif kind == 'mat':
        names = np.array(['a', 'b'], dtype=object)
        savemat(path, {'t': TIME, 'q': Q, 'tau': 2 * Q, 'joint_names': names})
    elif kind == 'mcap':
        write_bag(tmp_path / 'bag', [(time, cdr(state)) for time, state in wave(20)])
        (tmp_path / 'bag' / 'bag.mcap').rename(path)
    else:
        table = np.column_stack([TIME, Q, 2 * Q])
        np.savetxt(path, table, delimiter=',', header='t,q_a,q_b,tau_a,tau_b', comments='')
    return path


@pytest.mark.parametrize(
    'kind, name',
    [('csv', 'CSV'), ('txt', 'CSV'), ('npz', 'NPZ'), ('mat', 'MAT'), ('mcap', 'rosbag2')],
)
def test_every_format(tmp_path, kind, name):
    path = written(tmp_path, kind)
    assert recording_format(path) == name
    recording = read_recording(path, joints=['b', 'a'])
    assert recording.joints == ('b', 'a')
    assert len(recording) == 20
    assert recording.source == str(path)
    if kind != 'mcap':
        np.testing.assert_allclose(recording.torque, 2 * Q[:, ::-1])
    with pytest.raises(RecordingError, match="'c'"):
        read_recording(path, joints=['a', 'c'])


@pytest.mark.parametrize(
    'name, message',
    [
        ('absent.csv', 'there is no such file'),
        ('a.xlsx', 'expected a rosbag2 folder, .mcap.*got a .xlsx file'),
        ('a.bag', 'the bag cannot be read: a.bag: .*empty'),
        ('folder', 'got a folder without a rosbag2'),
    ],
)
def test_what_is_no_recording(tmp_path, name, message):
    (tmp_path / 'a.xlsx').touch()
    (tmp_path / 'a.bag').touch()
    (tmp_path / 'folder').mkdir()
    with pytest.raises(RecordingError, match=message):
        read_recording(tmp_path / name)


@pytest.mark.parametrize('kind', ['mcap', 'csv', 'db3'])
def test_a_long_file_reports_the_share_that_is_read(tmp_path, kind):
    path, seen = tmp_path / 'bag', []
    if kind == 'csv':
        path = written(tmp_path, kind)
    else:
        plugin = {'mcap': StoragePlugin.MCAP, 'db3': StoragePlugin.SQLITE3}[kind]
        write_bag(path, [(time, cdr(state)) for time, state in wave(20)], plugin=plugin)
    with show_progress(lambda phase, share: seen.append((phase, share))):
        read_recording(path)
    phases, shares = zip(*seen, strict=True)
    assert set(phases) == {f'reading {path.name if kind == "csv" else f"bag.{kind}"}'}
    assert list(shares) == sorted(shares) and 0.5 < shares[-1] <= 1.0

    def cancel(phase, share):
        raise CancelledError('cancelled')

    with pytest.raises(CancelledError), show_progress(cancel):  # it is no damage of the file
        read_recording(path)


def test_an_error_with_a_mapping_names_its_file(tmp_path):
    mapping = tmp_path / 'columns.yaml'
    mapping.write_text('position: {columns: positions, unit: degree}')
    with pytest.raises(RecordingError, match=rf"^column mapping {mapping}: .*'degree' of pos"):
        read_recording(written(tmp_path, 'npz'), columns=mapping)
    mapping.write_text('position: {columns: [Arm_Grad]}')
    with pytest.raises(RecordingError, match=rf"^column mapping {mapping}: .*'Arm_Grad'") as e:
        read_recording(written(tmp_path, 'mcap'), columns=mapping)
    assert not e.value.lines  # a bag has known columns


@measured
@pytest.mark.parametrize('name', ['DATA_EMPS.mat', 'DATA_EMPS_PULSES.mat'])
def test_emps(name):
    columns = ROOT / 'config' / 'recordings' / 'emps.yaml'
    recording = read_recording(DATA / 'emps' / name, columns=columns)
    assert recording.joints == ('axis',)
    assert len(recording) == 24841
    assert recording.period == pytest.approx(0.001, rel=1e-4)
    assert 50.0 < recording.torque.std() < 60.0  # N: the voltage alone is about 1.5


def states(names, effort=True, count=50):
    """Return JointState messages of joints that move."""
    stamps = [10**18 + 10**7 * index for index in range(count)]
    wave = [[np.sin(0.1 * index + k) for k in range(len(names))] for index in range(count)]
    return [
        message(stamp, names, row, row, row if effort else [])
        for stamp, row in zip(stamps, wave, strict=True)
    ]


def test_the_topic_that_has_the_joints_with_effort_is_read(tmp_path):
    gripper, arm = states(['finger'], effort=False), states(['a', 'b'])
    topics = {'/joint_states': gripper, '/arm/joint_states': arm, '/other': states(['a', 'b'])}
    write_topics(tmp_path / 'bag', topics)
    for joints in (None, ['a', 'b']):
        found = read_recording(tmp_path / 'bag', joints=joints)
        assert (found.topic, found.joints) == ('/arm/joint_states', ('a', 'b'))
        assert [(item.code, item.severity) for item in found.findings] == [
            ('topic_chosen', 'info')
        ]
    write_topics(tmp_path / 'two', {'/left/joint_states': arm, '/right/joint_states': arm})
    found = read_recording(tmp_path / 'two')
    assert found.topic == '/left/joint_states' and found.findings[-1].severity == 'warning'
    assert '/right/joint_states' in found.findings[-1].remedy
    assert read_recording(tmp_path / 'two', topic='right/joint_states').findings == ()
    with pytest.raises(MissingSignalError, match=r"'x' is not in .*left.*; .*right"):
        read_recording(tmp_path / 'two', joints=['x'])


def test_another_topic_does_not_replace_bad_data(tmp_path):
    late = states(['a', 'b'])
    late = [late[k + 4 - 2 * (k % 5)] for k in range(50)]  # five by five in reverse order
    write_topics(tmp_path / 'bag', {'/joint_states': late, '/plant': states(['a', 'b'])})
    with pytest.raises(RecordingError, match='time goes back'):
        read_recording(tmp_path / 'bag')


def test_joints_without_effort_are_left_out_unless_they_are_asked_for(tmp_path):
    time = np.arange(100) * 0.01
    wave = np.stack([np.sin(time), np.cos(time), np.sin(2.0 * time)], axis=1)
    torque = wave.copy()
    torque[:, 1] = np.nan
    names = np.array(['a', 'wheel', 'b'])
    np.savez(tmp_path / 'a.npz', t=time, q=wave, tau=torque, joint_names=names)
    found = read_recording(tmp_path / 'a.npz')
    assert found.joints == ('a', 'b') and found.findings[-1].code == 'joints_left_out'
    np.testing.assert_array_equal(found.torque, wave[:, [0, 2]])
    assert not read_recording(tmp_path / 'a.npz', joints=['b', 'a']).findings
    with pytest.raises(MissingSignalError, match="torque of joint 'wheel' is missing"):
        read_recording(tmp_path / 'a.npz', joints=['a', 'wheel'])
