# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.topics.rename import rename_hint, rename_joints


@pytest.mark.parametrize(
    'wanted, known',
    [
        (['a', 'b'], ['robot1_a', 'robot1_b', 'finger']),
        (['left.arm/a', 'left.arm/b'], ['a', 'b']),
        (['j1', 'j2'], ['x+j1', 'x+j2']),
        (['j1', 'j11'], ['pj1', 'pj11']),
    ],
)
def test_the_rule_that_is_offered_renames_the_joints(wanted, known):
    rule = re.search(r"--rename '(.*)'$", rename_hint(wanted, known))[1]
    assert set(wanted) <= set(rename_joints(known, [rule]))


@pytest.mark.parametrize('known', [['a', 'b'], ['r_a', 'l_b'], ['c', 'd'], []])
def test_no_rule_is_offered_where_another_part_of_the_names_differs(known):
    assert rename_hint(['a', 'b'], known) == ''


@pytest.mark.parametrize(
    'rule, message',
    [
        ('left_(.*', 'missing \\)'),
        ('a', 'PATTERN=NAME'),
        (r'(.*)=\2', 'invalid group'),
        ('.*=x', "'x'"),
    ],
)
def test_a_rule_that_cannot_be_used(rule, message):
    with pytest.raises(RecordingError, match=message):
        rename_joints(['a', 'b'], [rule])


def test_only_whole_names_match():
    assert rename_joints(['xr_a', 'r_a'], [r'r_(.*)=\1']) == ('xr_a', 'a')


def test_the_joints_of_a_table_are_renamed(tmp_path):
    time = np.arange(50) * 0.01
    q = np.column_stack([np.sin(time), np.cos(time)])
    path = tmp_path / 'a.csv'
    np.savetxt(
        path, np.column_stack([time, q, 2.0 * q]), delimiter=',', comments='',
        header='t,q_r1_a,q_r1_b,tau_r1_a,tau_r1_b',
    )  # fmt: skip
    with pytest.raises(RecordingError, match=r"--rename 'r1_\(\.\*\)=\\1'"):
        read_recording(path, joints=['b', 'a'])
    found = read_recording(path, joints=['b', 'a'], rename=[r'r1_(.*)=\1'])
    np.testing.assert_allclose(found.torque, 2.0 * q[:, ::-1])
