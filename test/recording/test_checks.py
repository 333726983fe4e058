# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.checks import check_recording
from robodyn_ros.recording.tables.columns import Signals


def signals(count=200, period=0.01, joints=('a', 'b'), **changes):
    rng = np.random.default_rng(3)
    time = np.arange(count) * period
    shape = (count, len(joints))
    values = {'position': rng.normal(size=shape), 'torque': rng.normal(size=shape), **changes}
    return Signals(time, joints, 'test.csv', values)


def codes(recording):
    return [finding.code for finding in recording.findings]


def test_clean_signals_pass_without_a_copy():
    clean = signals()
    recording = check_recording(clean)
    assert codes(recording) == []
    assert recording.position is clean.values['position']
    assert not recording.position.flags.writeable


def test_a_joint_without_data():
    silent = signals()
    silent.values['torque'][:, 1] = np.nan
    with pytest.raises(RecordingError, match="torque of joint 'b' is missing"):
        check_recording(silent)
    still = signals(velocity=np.full((200, 2), np.nan))
    recording = check_recording(still)
    assert recording.velocity is None
    assert codes(recording) == ['no_velocity']


def test_repeated_stamps():
    same = signals()
    for array in (same.time, *same.values.values()):
        array[10] = array[9]
    recording = check_recording(same)
    assert len(recording) == 199
    assert codes(recording)[0] == 'repeated_samples'
    other = signals()
    other.time[10] = other.time[9]
    kept = other.values['torque'][9].copy()
    recording = check_recording(other)
    assert codes(recording)[0] == 'repeated_stamps'
    np.testing.assert_array_equal(recording.torque[9], kept)
    assert recording.findings[0].severity == 'warning'


def test_an_empty_recording_is_told_as_such():
    with pytest.raises(RecordingError, match='it has no samples'):
        check_recording(signals(count=0))


def test_the_coarse_clock_of_a_simulation_is_no_error():
    coarse = signals()
    coarse.time = coarse.time[np.arange(len(coarse.time)) // 5 * 5].copy()
    count = len(coarse.time)
    recording = check_recording(coarse)
    assert len(recording) == -(-count // 5)
    assert ('repeated_stamps', 'warning') in [(f.code, f.severity) for f in recording.findings]


def test_a_stuck_clock_is_severe():
    stuck = signals()
    stuck.time[50:] = stuck.time[50]
    recording = check_recording(stuck)
    assert len(recording) == 51
    assert ('repeated_stamps', 'error') in [(f.code, f.severity) for f in recording.findings]
    stuck = signals()
    stuck.time[:] = 1.0
    with pytest.raises(RecordingError, match='1 usable samples'):
        check_recording(stuck)


def test_backward_stamps():
    back = signals()
    back.time[100] = back.time[90] + 1e-4
    with pytest.raises(RecordingError, match=r'goes back at sample 100 \(0.990000 s, then 0.90'):
        check_recording(back)
    back = signals()
    back.time[100] = back.time[90] + 1e-4
    recording = check_recording(back, late_share=0.01)
    assert len(recording) == 199
    assert codes(recording)[0] == 'late_samples'
    reset = signals()
    reset.time[100:] -= 0.5
    with pytest.raises(RecordingError, match=r'back at sample 100 .* at most 9 samples'):
        check_recording(reset, late_share=0.045)


@pytest.mark.parametrize('jump', [-0.3, 3600.0])
def test_a_clock_that_was_wrong_for_a_while_costs_its_samples_only(jump):
    wrong = signals()
    true, position = wrong.time.copy(), wrong.values['position'].copy()
    wrong.time[100:115] += jump
    recording = check_recording(wrong, late_share=0.1)
    kept = np.r_[:100, 115:200]
    np.testing.assert_array_equal(recording.time, true[kept])
    np.testing.assert_array_equal(recording.position, position[kept])
    assert codes(recording)[:2] == ['late_samples', 'gaps']


def test_gaps_are_counted_and_located():
    gappy = signals()
    gappy.time[50:] += 0.03
    gappy.time[120:] += 0.01
    finding = check_recording(gappy).findings[0]
    assert finding.code == 'gaps'
    assert finding.text.startswith('2 gaps in 200 samples, about 4 samples missing')
    assert 'The largest is 0.0400 s at 0.490 s' in finding.text


@pytest.mark.parametrize(('period', 'unit'), [(0.002, ''), (2.0, 'ms'), (2e3, 'us'), (2e6, 'ns')])
def test_times_in_another_unit_are_named(period, unit):
    found = check_recording(signals(period=period)).findings
    told = [item.remedy for item in found if item.code == 'slow_sampling']
    assert [f'If times are in {unit}, say so' in each for each in told] == [True] * bool(unit)


def test_irregular_sampling():
    rough = signals(1000)
    rough.time += np.random.default_rng(0).uniform(-0.0035, 0.0035, 1000)
    assert codes(check_recording(rough)) == ['irregular_sampling']
    fine = signals(1000)
    fine.time += np.random.default_rng(0).uniform(-0.0009, 0.0009, 1000)
    assert codes(check_recording(fine)) == []


def test_frozen_joints():
    frozen = signals()
    frozen.values['position'][:, 1] = 0.7
    finding = check_recording(frozen).findings[0]
    assert (finding.code, finding.joint, finding.severity) == ('frozen_joint', 'b', 'warning')
    frozen.values['position'] = np.zeros((200, 2))
    finding = check_recording(frozen).findings[-1]
    assert (finding.code, finding.severity) == ('no_motion', 'error')


def test_torque_that_is_not_measured():
    dead = signals()
    dead.values['torque'][:, 0] = 0.0
    dead.values['torque'][:, 1] = 4.0
    findings = check_recording(dead).findings
    assert [(f.code, f.joint, f.severity) for f in findings] == [
        ('zero_torque', 'a', 'error'),
        ('constant_torque', 'b', 'error'),
    ]


def test_stale_samples():
    stale = signals()
    for values in stale.values.values():
        values[60:65] = values[59]
        values[100] = values[99]
    finding = check_recording(stale).findings[0]
    assert finding.code == 'stale_samples'
    assert finding.text.startswith('6 of 200 samples repeat')
    assert 'longest: 5 from 0.590 s' in finding.text
    twice = signals()
    for values in twice.values.values():
        values[60:62] = values[59]
    assert codes(check_recording(twice)) == []


def with_motor(factor):
    plain = signals()
    motor = factor * plain.values['position'] + 0.3
    found = signals(motor_position=motor, motor_velocity=motor)
    found.gear_ratio = np.array([10.0, 10.0])
    return found


def test_the_motor_side_is_kept_where_it_turns_as_far_as_the_joint():
    recording = check_recording(with_motor(1.001))
    assert codes(recording) == []
    assert recording.motor_position is not None and recording.motor_velocity is not None
    assert recording.gear_ratio.tolist() == [10.0, 10.0]
    part = recording.select(['b']).slice(slice(3, 9))
    assert part.motor_position.shape == (6, 1) and part.gear_ratio.shape == (1,)


def test_a_wrong_gear_ratio_is_named_and_the_motor_side_left_out():
    recording = check_recording(with_motor(-10.0))
    assert codes(recording) == ['gear_ratio']
    assert 'suggest -100' in recording.findings[0].remedy
    assert recording.motor_position is None and recording.motor_velocity is None
    assert codes(check_recording(with_motor(1.1))) == ['gear_ratio']


def moving(count=2000, scale=1.0):
    """Two joints with velocities whose time is scaled."""
    time = np.arange(count) * 0.01
    turn = np.array([1.1, 1.7]) * time[:, None]
    position, velocity = np.sin(turn), np.array([1.1, 1.7]) * np.cos(turn)
    return signals(count, 0.01 * scale, position=position, velocity=velocity)


@pytest.mark.parametrize('scale', [0.5, 10.0])
def test_times_that_contradict_velocities_are_an_error(scale):
    (found,) = check_recording(moving(scale=scale)).findings
    assert (found.code, found.severity) == ('time_scale', 'error')
    assert f'times are {scale:g} times as long' in found.text
    assert f'of all joints that move are {scale:g} times the derivatives' in found.text
    assert not check_recording(moving()).findings


def test_gaps_do_not_make_times_longer():
    cut = moving()
    kept = np.random.default_rng(1).random(20).repeat(100) > 0.3
    cut.time = cut.time[kept]
    cut.values = {name: value[kept] for name, value in cut.values.items()}
    assert not {'time_scale', 'velocity_scale'} & set(codes(check_recording(cut)))


def test_velocities_that_are_noise_tell_nothing_about_times():
    noise = moving()
    noise.values['velocity'] = np.random.default_rng(0).normal(size=(2000, 2))
    assert codes(check_recording(noise)) == []


def test_a_velocity_in_another_unit_is_named():
    one = moving()
    one.values['velocity'] = one.values['velocity'] * [1.0, 57.3]
    (found,) = check_recording(one).findings
    assert (found.code, found.joint) == ('velocity_scale', 'b') and '57.3 times' in found.text
    two = moving()
    two.values['velocity'] = two.values['velocity'] * [10.0, 20.0]
    assert codes(check_recording(two)) == ['velocity_scale'], 'no common factor'


def test_many_repeated_samples_are_a_warning():
    """60 % of the messages repeat the one before."""
    random = np.random.default_rng(1)
    fresh = np.maximum.accumulate(np.where(random.uniform(size=2000) < 0.4, np.arange(2000), 0))
    whole = moving()
    repeated = {name: values[fresh] for name, values in whole.values.items()}
    found = {item.code: item for item in check_recording(signals(2000, **repeated)).findings}
    assert found['stale_samples'].severity == 'warning'
    assert 'more often than it measures' in found['stale_samples'].text


def test_the_rate_of_a_signal_with_repeats_is_that_of_its_new_values():
    """Every fourth torque of a joint is missing: its usual period stays that of the rest."""
    whole = moving()
    torque = whole.values['torque'].copy()
    torque[3::4, 0] = torque[2:-1:4, 0]
    values = {**whole.values, 'torque': torque}
    found = {item.code: item for item in check_recording(signals(2000, **values)).findings}
    assert 'about 74.95 Hz' in found['stale_samples'].text
