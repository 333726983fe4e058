# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import Finding
from robodyn_ros.recording.recording import Recording

TIME = np.arange(5) * 0.1
Q = np.arange(10.0).reshape(5, 2)


def recording(**changes):
    arguments = {
        'time': TIME,
        'joints': ('a', 'b'),
        'position': Q,
        'torque': 2 * Q,
        'velocity': 3 * Q,
        'acceleration': 4 * Q,
        'source': 'test.csv',
        'findings': (Finding('x', 'text'),),
    }
    return Recording(**{**arguments, **changes})


def test_what_it_tells():
    data = recording(time=[0.0, 0.1, 0.2, 0.3, 1.0])
    assert len(data) == 5
    assert data.period == pytest.approx(0.1)
    assert data.duration == 1.0


def test_arrays_are_read_only_and_copied_only_when_they_could_change():
    writable = Q.copy()
    data = recording(position=writable)
    writable[:] = 0.0
    np.testing.assert_array_equal(data.position, Q)
    with pytest.raises(ValueError, match='read-only'):
        data.position[0, 0] = 1.0
    fixed = Q.copy()
    fixed.setflags(write=False)
    assert recording(position=fixed).position is fixed
    assert np.shares_memory(data.slice(slice(1, 3)).torque, data.torque)


@pytest.mark.parametrize(
    'changes, message',
    [
        ({'joints': ('a', 'a')}, "joint 'a' occurs more than once"),
        ({'joints': ()}, 'it has no joints'),
        ({'time': TIME[:1]}, 'expected at least 2 stamps'),
        ({'time': [0, 1, np.nan, 3, 4]}, 'stamp of sample 2 is nan'),
        ({'time': [0, 1, 1, 3, 4]}, r'time repeats at sample 2 \(1.000000 s'),
        ({'time': [0, 1, 2, 1.5, 4]}, r'time goes back at sample 3 \(2.0+ s, then 1.50'),
        ({'torque': Q[:4]}, r'torque must have the shape \(5, 2\) .* got \(4, 2\)'),
        ({'velocity': np.where(Q > 1.0, np.inf, Q)}, '1 usable .* joint a, velocity'),
    ],
)
def test_broken_rules_name_the_place(changes, message):
    with pytest.raises(RecordingError, match=message) as caught:
        recording(**changes)
    assert 'test.csv' in str(caught.value)


def test_select_matches_by_name():
    chosen = recording(acceleration=None).select(['b', 'a'])
    assert chosen.joints == ('b', 'a')
    np.testing.assert_array_equal(chosen.torque, 2 * Q[:, ::-1])
    np.testing.assert_array_equal(chosen.velocity, 3 * Q[:, ::-1])
    assert chosen.acceleration is None
    with pytest.raises(RecordingError, match=r"joint 'c' is not in the recording, which has \['b"):
        chosen.select(['a', 'c'])


def test_split():
    first, rest = recording(origin=7).split(0.6)
    assert (len(first), len(rest)) == (3, 2)
    np.testing.assert_array_equal(np.concatenate([first.position, rest.position]), Q)
    assert rest.time[0] == TIME[3] and rest.origin == 7
    assert rest.findings == first.findings
    for fraction in (0.0, 1.0, -1.0, float('nan')):
        with pytest.raises(RecordingError, match='between 0 and 1'):
            recording().split(fraction)
    with pytest.raises(RecordingError, match='at least 2 stamps'):
        recording().split(0.1)


def test_samples_between_two_stamps():
    data = recording(origin=10**9)
    part = data.between(10**9 + 10**8, 10**9 + 3 * 10**8)
    np.testing.assert_array_equal(part.time, TIME[1:3])
    told = part.findings[-1]
    assert told.code == 'motion_only' and ': 0.1 s before and 0.2 s after' in told.text
    assert data.between(0, 10**10).findings == data.findings
    with pytest.raises(RecordingError, match=r'has 1 samples .* 1\.400 s and 1\.900 s'):
        data.between(14 * 10**8, 19 * 10**8)
    with pytest.raises(RecordingError, match=r'has 0 samples .* 1900000000\.000 s and 19000000'):
        data.between(19 * 10**17, 19 * 10**17)


def test_samples_with_nan_are_left_out_and_told():
    torque = np.where(Q == 5.0, np.nan, Q)
    recording = Recording(time=TIME, joints=('a', 'b'), position=Q, torque=torque)
    np.testing.assert_array_equal(recording.time, np.delete(TIME, 2))
    np.testing.assert_array_equal(recording.torque, np.delete(Q, 2, axis=0))
    assert [(item.code, item.joint) for item in recording.findings] == [('nan_samples', 'b')]
    assert recording.slice(slice(0, 3)).findings == recording.findings
