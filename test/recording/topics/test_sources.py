# SPDX-License-Identifier: Apache-2.0
"""What a bag with several publishers, or of a restarted simulation, is read as."""

import numpy as np
import pytest
from bags import cdr, message, write_bag

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import read_recording

START = 1_700_000_000 * 10**9


def motion(time, joints=2, shift=0.0):
    """Smooth signals of joints at times (N,), in [s], shape (N, joints)."""
    return np.sin(np.outer(time, 1.0 + 0.3 * np.arange(joints)) + shift)


def publisher(names, time, *, shift=0.0, effort=True, zeros=False, delay=0.0, clock=0.0):
    """Messages of one publisher: time in the bag and state."""
    q = motion(time, len(names), shift)
    v, tau = 0.5 * q, 3.0 * q
    if zeros:
        v, tau = 0.0 * v, 0.0 * tau
    for k, each in enumerate(time):
        stamp = START + round(1e9 * (each + delay))
        yield (
            stamp,
            message(stamp + round(1e9 * clock), names, q[k], v[k], tau[k] if effort else []),
        )


def bag(tmp_path, *publishers, name='bag'):
    both = sorted((entry for each in publishers for entry in each), key=lambda entry: entry[0])
    return write_bag(tmp_path / name, [(time, cdr(state)) for time, state in both])


def codes(recording):
    return [finding.code for finding in recording.findings]


TIME = np.arange(400) * 0.01


def test_arm_and_gripper_in_separate_messages_are_merged_by_joint(tmp_path):
    slow = np.arange(120) / 30.0
    path = bag(
        tmp_path, publisher(['a', 'b'], TIME), publisher(['finger'], slow, shift=0.3, delay=0.0037)
    )
    for joints in (None, ['finger', 'a', 'b']):
        found = read_recording(path, joints=joints)
        assert found.joints == tuple(joints or ('a', 'b', 'finger'))
        at = found.time + (found.origin - START) / 1e9
        arm = found.select(['a', 'b'])
        np.testing.assert_allclose(arm.position, motion(at), atol=1e-7)
        finger = found.select(['finger'])
        expected = np.sin(at - 0.0037 + 0.3)
        np.testing.assert_allclose(finger.position[:, 0], expected, atol=2e-4)
        np.testing.assert_allclose(finger.torque[:, 0], 3.0 * expected, atol=6e-4)
        assert len(found) > 0.9 * len(TIME)
        assert codes(found) == ['merged']
        assert 'finger' in found.findings[0].text


def test_nothing_is_invented_where_the_other_publisher_was_silent(tmp_path):
    quiet = TIME[(TIME < 1.0) | (TIME > 2.0)]
    path = bag(tmp_path, publisher(['a', 'b'], TIME), publisher(['c'], quiet, delay=0.003))
    found = read_recording(path)
    at = found.time + (found.origin - START) / 1e9
    assert not ((at > 1.02) & (at < 1.98)).any()
    assert len(found) < 320 and 'gaps' in codes(found)


def test_messages_without_effort_are_left_out_and_counted(tmp_path):
    path = bag(
        tmp_path,
        publisher(['a', 'b'], TIME),
        publisher(['b', 'a'], TIME[::3], delay=0.004, effort=False),
        publisher(['finger'], TIME[::2], delay=0.002, effort=False),
    )
    found = read_recording(path)
    np.testing.assert_allclose(found.position, motion(TIME), atol=1e-12)
    assert codes(found) == ['no_effort_messages'] and '334 messages' in found.findings[0].text
    assert found.findings[0].severity == 'info'


def test_a_publisher_that_fills_in_zeros_has_no_effort(tmp_path):
    republished = publisher(['a', 'b'], TIME[::3], shift=0.2, delay=0.004, zeros=True)
    found = read_recording(bag(tmp_path, publisher(['a', 'b'], TIME, shift=0.2), republished))
    np.testing.assert_allclose(found.torque, 3.0 * motion(TIME, shift=0.2), atol=1e-12)
    assert codes(found) == ['no_effort_messages'] and '134 messages' in found.findings[0].text


def test_drives_that_were_off_for_a_while_are_no_other_publisher(tmp_path):
    entries = list(publisher(['a', 'b'], TIME))
    for _, state in entries[100:200]:
        state.velocity[:], state.effort[:] = 0.0, 0.0
    assert len(read_recording(bag(tmp_path, entries))) == 400


@pytest.mark.parametrize('ratio', [1, 3])
@pytest.mark.parametrize('other', [['a', 'b'], ['b', 'a'], ['a', 'b', 'finger']])
def test_two_publishers_of_the_same_joints_are_named_and_one_is_read(tmp_path, other, ratio):
    second = publisher(other, TIME[::ratio], shift=1.5, delay=0.005 if ratio == 1 else 0.004)
    path = bag(tmp_path, publisher(['a', 'b'], TIME), second)
    found = read_recording(path, joints=['a', 'b'])
    at = found.time + (found.origin - START) / 1e9
    parts = [item for item in found.findings if item.code == 'parts']
    assert len(parts) == 1 and '--part' in parts[0].remedy
    assert '1: 400 messages' in parts[0].remedy
    assert f'2: {len(TIME[::ratio])} messages' in parts[0].remedy
    first, last = (
        read_recording(path, joints=['a', 'b'], part=1),
        read_recording(path, joints=['a', 'b'], part=2),
    )
    for each, start in ((first, 0.0), (last, 1.5)):
        at = (
            each.time
            + (each.origin - START) / 1e9
            - (0.0 if start == 0.0 else 0.005 if ratio == 1 else 0.004)
        )
        names = ['a', 'b'] if start == 0.0 else other
        expected = motion(at, len(names), start)[:, [names.index('a'), names.index('b')]]
        np.testing.assert_allclose(each.position, expected, atol=1e-7)


@pytest.mark.parametrize('rate', [60, 75, 90, 99])
def test_two_robots_with_other_rates_are_told_apart(tmp_path, rate):
    other = publisher(['a', 'b'], np.arange(4 * rate) / rate, shift=1.0, delay=0.0035)
    path = bag(tmp_path, publisher(['a', 'b'], TIME), other)
    for part, delay, shift in ((1, 0.0, 0.0), (2, 0.0035, 1.0)):
        found = read_recording(path, part=part)
        at = found.time + (found.origin - START) / 1e9
        np.testing.assert_allclose(found.position, motion(at - delay, 2, shift), atol=1e-6)


def test_joints_with_stamps_of_other_clocks_are_not_merged(tmp_path):
    arm = publisher(['a', 'b'], TIME)
    path = bag(tmp_path, arm, publisher(['c'], TIME[::3], delay=0.004, clock=0.4))
    with pytest.raises(RecordingError, match=r"'c' and of 'a' are of clocks that differ by 0.4 s"):
        read_recording(path)
    assert read_recording(path, joints=['c']).joints == ('c',)


def test_a_robot_that_gets_a_gripper_is_one_recording(tmp_path):
    path = bag(
        tmp_path,
        publisher(['a', 'b'], TIME[:200]),
        publisher(['a', 'b', 'finger'], TIME[200:]),
    )
    found = read_recording(path, joints=['a', 'b'])
    assert len(found) == 400 and not codes(found)


def test_of_a_restarted_simulation_the_longest_part_is_read_or_the_one_asked_for(tmp_path):
    entries = []
    for count, shift in ((120, 0.0), (200, 0.7), (80, 1.1)):
        for k, (_, state) in enumerate(publisher(['a', 'b'], TIME[:count], shift=shift)):
            state.header.stamp.sec, state.header.stamp.nanosec = 5 + k // 100, k % 100 * 10**7
            entries.append((START + len(entries) * 10**7, state))
    path = write_bag(tmp_path / 'bag', [(time, cdr(state)) for time, state in entries])
    found = read_recording(path)
    np.testing.assert_allclose(found.position, motion(TIME[:200], shift=0.7), atol=1e-12)
    assert codes(found) == ['parts'] and 'Part 2 was read' in found.findings[0].remedy
    listed = '1: 120 messages of 1.19 s; 2: 200 messages of 1.99 s; 3: 80'
    assert listed in found.findings[0].remedy
    assert found.part.first == START + 120 * 10**7
    third = read_recording(path, part=3)
    np.testing.assert_allclose(third.position, motion(TIME[:80], shift=1.1), atol=1e-12)
    with pytest.raises(RecordingError, match='--part 4: /joint_states has 3 parts'):
        read_recording(path, part=4)
    with pytest.raises(RecordingError, match='--part 0'):
        read_recording(path, part=0)


def test_joints_with_a_prefix_are_renamed_and_the_rule_is_offered(tmp_path):
    path = bag(tmp_path, publisher(['r1_a', 'r1_b'], TIME))
    with pytest.raises(RecordingError, match=r"prefix differs: --rename 'r1_\(\.\*\)=\\1'"):
        read_recording(path, joints=['a', 'b'])
    found = read_recording(path, joints=['b', 'a'], rename=[r'r1_(.*)=\1'])
    np.testing.assert_allclose(found.position, motion(TIME)[:, ::-1], atol=1e-12)
    with pytest.raises(RecordingError, match=r"--rename '\(\.\*\)=x/r1_\\1'|only the prefix"):
        read_recording(path, joints=['x/r1_a', 'x/r1_b'])


def test_joints_whose_messages_never_came_together(tmp_path):
    path = bag(tmp_path, publisher(['a', 'b'], TIME[:200]), publisher(['c'], TIME[300:]))
    with pytest.raises(RecordingError, match="no message with 'c' came while those with 'a' did"):
        read_recording(path, joints=['a', 'b', 'c'])
