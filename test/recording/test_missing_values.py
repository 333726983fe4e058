# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.recording.missing_values import MISSING_SHARE, missing_values

TIME = 10.0 + 0.01 * np.arange(400)


def found(time=TIME, **blocks):
    values = {name: np.zeros((400, 2)) for name in ('position', 'motor_position', 'torque')}
    for name, (rows, column) in blocks.items():
        values[name][rows, column] = np.nan
    return missing_values(time, ('a', 'b'), values)


def test_joint_signal_time_and_length_are_named():
    rows, (first, second) = found(
        torque=(slice(100, 120), 1), motor_position=(slice(118, 125), 1), position=([3, 7], 0)
    )
    assert set(np.flatnonzero(rows)) == {3, 7, *range(100, 125)}
    assert (first.joint, second.joint) == ('a', 'b')
    wrong = 'NaN, infinite or above 1e+15'
    assert first.text.startswith(f'joint a, position: {wrong} in 2 samples')
    assert second.text == (
        f'joint b, motor position and torque: {wrong} in 25 samples, longest block 0.25 s '
        '(25 samples) from 11.000 s. These samples were left out like a gap.'
    )
    assert {first.severity, second.severity} == {'warning'}


@pytest.mark.parametrize(('count', 'severity'), [(40, 'warning'), (41, 'error')])
def test_more_than_a_tenth_is_an_error(count, severity):
    assert MISSING_SHARE == 0.1
    _, (finding,) = found(torque=(slice(50, 50 + count), 0))
    assert finding.severity == severity
    assert finding.remedy == ('Record again.' if severity == 'error' else '')
    assert ('In total, 41 of 400 samples' in finding.text) == (severity == 'error')


def test_stamps_that_are_missing_too():
    time = TIME.copy()
    time[100:110] = np.nan
    rows, (stamps, joint) = found(time, torque=(slice(100, 110), 0))
    assert rows.sum() == 10 and stamps.joint == '' and 'The stamp is NaN' in stamps.text
    assert 'from 11.100 s.' in joint.text  # the first stamp that there is
    _, (stamps,) = found(np.full(400, np.nan))
    assert 'in 400 samples. In total, 400 of 400' in stamps.text
