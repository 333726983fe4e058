# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import read_recording

RNG = np.random.default_rng(4)
Q = RNG.uniform(-1.5, 1.5, (60, 2))


def write(tmp_path, q, *more, header='q_a,q_b,tau_a,tau_b'):
    path = tmp_path / 'a.csv'
    table = np.column_stack([*more, q, 3.0 * q])
    np.savetxt(path, table, delimiter=',', header=header, comments='')
    return path


@pytest.mark.parametrize('joints', [None, ['b', 'a']])
def test_a_table_of_poses_needs_no_time(tmp_path, joints):
    found = read_recording(write(tmp_path, Q), joints=joints)
    order = [0, 1] if joints is None else [1, 0]
    np.testing.assert_allclose(found.position, Q[:, order])
    np.testing.assert_allclose(found.torque, 3.0 * Q[:, order])
    assert not found.velocity.any() and not found.acceleration.any()
    assert [(item.code, item.severity) for item in found.findings] == [('static_poses', 'warning')]


def test_poses_with_a_time_have_velocities_of_zero(tmp_path):
    header = 't,dq_a,dq_b,q_a,q_b,tau_a,tau_b'
    still = np.zeros((60, 2))
    found = read_recording(write(tmp_path, Q, 5.0 * np.arange(60), still, header=header))
    assert [item.code for item in found.findings] == ['static_poses']


@pytest.mark.parametrize('rate', [10.0, 100.0])
def test_samples_of_a_motion_without_time_are_no_poses(tmp_path, rate):
    time = np.arange(200) / rate
    q = np.column_stack([np.sin(3.0 * time), np.cos(2.0 * time)])
    with pytest.raises(RecordingError, match='no column for time'):
        read_recording(write(tmp_path, q))


def test_a_motion_whose_velocities_are_not_recorded_is_no_table_of_poses(tmp_path):
    time = np.arange(200) / 100.0
    q = np.column_stack([np.sin(3.0 * time), np.cos(2.0 * time)])
    header = 't,dq_a,dq_b,q_a,q_b,tau_a,tau_b'
    found = read_recording(write(tmp_path, q, time, 0.0 * q, header=header))
    assert 'static_poses' not in [item.code for item in found.findings]
    assert found.acceleration is None
