# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.recording import jumps
from robodyn_ros.recording.jumps import without_jumps

TIME = 0.01 * np.arange(1000)
JOINTS = ('a', 'b')


def signals():
    """Return a motion with noise and steps of an encoder."""
    noise = np.random.default_rng(7).normal(size=(1000, 2))
    position = np.sin(TIME[:, None] * [2.0, 3.1]) + 1e-4 * noise
    return {
        'position': np.round(position / 1e-4) * 1e-4,
        'torque': 20.0 * np.cos(TIME[:, None] * [3.0, 1.7]) + noise,
    }


def repaired(values, time=TIME):
    position, rows, findings = without_jumps(time, JOINTS, values)
    return position, np.flatnonzero(rows).tolist(), findings


def test_a_healthy_recording_stays_as_it_is():
    values = signals()
    position, rows, findings = repaired(values)
    assert position is values['position'] and rows == [] and findings == ()


@pytest.mark.parametrize(('name', 'size'), [('position', 1.8), ('position', -0.2), ('torque', 90)])
@pytest.mark.parametrize('count', [1, 3])
def test_samples_that_jump_and_return_are_left_out(name, size, count):
    values = signals()
    values[name][100 : 100 + count, 1] += size
    values[name][250, 1] += 2 * size
    position, rows, (finding,) = repaired(values)
    assert rows == [*range(100, 100 + count), 250] and position is values['position']
    assert (finding.code, finding.joint, finding.severity) == ('bad_samples', 'b', 'warning')
    assert finding.text.startswith(f'joint b: {count + 1} samples of its {name} are off by up to')
    assert 'the first at 1.000 s' in finding.text


def test_what_lasts_longer_may_be_a_contact():
    values = signals()
    values['torque'][100:104, 0] += 90.0
    assert repaired(values)[1:] == ([], ())


def test_steps_of_an_encoder_at_rest_are_no_jumps():
    values = signals()
    values['position'][:, 0] = 1.0
    values['position'][[50, 51, 200], 0] += 1e-4
    assert repaired(values)[1:] == ([], ())


@pytest.mark.parametrize('start', [-9.0, 0.0, 3.0])
def test_positions_are_unwrapped(start):
    values = signals()
    true = start + 0.5 * TIME[:, None] * [4.0, -9.0] + 1e-4 * values['torque']
    values['position'] = (true + np.pi) % (2 * np.pi) - np.pi
    position, rows, findings = repaired(values)
    first = true[0] - values['position'][0]
    np.testing.assert_allclose(position + first, true, atol=1e-9)
    assert rows == [] and {item.code for item in findings} == {'wrapped_position'}
    assert {item.severity for item in findings} == {'info'}


@pytest.mark.parametrize('rows', [slice(0, 2), slice(998, 1000)])
def test_bad_samples_at_an_end_are_left_out(rows):
    values = signals()
    values['position'][rows, 0] = 9.0
    _, left_out, (finding,) = repaired(values)
    assert left_out == [*range(1000)[rows]] and finding.code == 'bad_samples'


def test_torque_steps_where_a_joint_turns_round():
    values = signals()
    values['torque'][:2, 0] += 90.0
    assert repaired(values)[1:] == ([], ())


def test_what_occurs_often_is_the_signal():
    values = signals()
    values['torque'][:, 1] = 0.0
    values['torque'][10::50, 1] = 1.0 + np.arange(20) * 1e-3
    values['torque'][:, 1] += 1e-6 * np.random.default_rng(1).normal(size=1000)
    assert repaired(values)[1:] == ([], ())


def test_a_bad_sample_does_not_stop_the_unwrapping():
    values = signals()
    true = 2.0 * TIME[:, None] * [1.0, 1.3]
    values['position'] = (true + np.pi) % (2 * np.pi) - np.pi
    values['position'][500, 0] += 1.8
    position, rows, findings = repaired(values)
    assert rows == [500]
    assert {item.code for item in findings} == {'wrapped_position', 'bad_samples'}
    np.testing.assert_allclose(np.delete(position - true, 500, axis=0), 0.0, atol=1e-9)


def test_a_zero_that_moves_is_an_error():
    values = signals()
    values['position'][200:, 1] += 0.5
    position, rows, (finding,) = repaired(values)
    assert position is values['position'] and rows == []
    assert (finding.code, finding.joint, finding.severity) == ('position_jump', 'b', 'error')
    assert 'at 2.000 s' in finding.text and 'Record again' in finding.remedy


def test_after_a_gap_or_repeated_values_the_joint_may_have_moved():
    values = signals()
    values['position'][200:, 0] += 0.5
    assert repaired(values, np.where(TIME < 2.0 - 1e-9, TIME, TIME + 1.0))[2] == ()
    values['position'][195:200, 0] = values['position'][195, 0]
    assert repaired(values)[2] == ()


def test_small_moves_of_a_zero_are_not_worth_an_error():
    values = signals()
    values['position'] *= 1e-2
    values['position'][200:, 1] += 0.009
    assert repaired(values)[2] == ()


def test_a_move_of_few_samples_is_no_jump():
    values = signals()
    values['position'][:, 0] = 1e-5 * np.sign(values['torque'][:, 0])
    values['position'][200:203, 0] += [0.1, 0.3, 0.4]
    values['position'][203:, 0] += 0.4
    assert repaired(values)[1:] == ([], ())


def test_long_recordings_are_looked_at_in_blocks(monkeypatch):
    values = signals()
    values['position'][[63, 64, 300], 1] += 1.0
    whole = repaired(values)[1:]
    monkeypatch.setattr('robodyn_ros.recording.storage.BLOCK', 64)
    monkeypatch.setattr(jumps, 'LARGEST', 10)
    assert repaired(values)[1:] == whole
    assert whole[0] == [63, 64, 300]


@given(
    st.integers(0, 10_000), st.sampled_from([20, 100, 1000]), st.sampled_from([1e-6, 1e-3, 0.1])
)
def test_motions_with_noise_have_no_jumps(seed, count, step):
    random = np.random.default_rng(seed)
    phase = random.uniform(0.5, 5.0, 2) * TIME[:count, None] + random.uniform(0, 6, 2)
    position = random.uniform(0.1, 3.0) * np.sin(phase) + step * random.normal(size=(count, 2))
    values = {
        'position': np.round(position / step) * step,
        'torque': random.normal(size=(count, 2)),
    }
    assert repaired(values, TIME[:count])[1:] == ([], ())


def test_torque_that_starts_and_ends_a_quick_move_is_no_jump():
    values = signals()
    speed = np.zeros(1000)
    for start in (200, 700):
        speed[start : start + 40] = 1.0
    values['position'][:, 0] = 0.02 * np.cumsum(np.convolve(speed, np.ones(2) / 2, 'same'))
    values['position'][:, 1] = 0.0
    values['torque'] = 0.05 * np.random.default_rng(5).normal(size=(1000, 2))
    for start in (200, 700):
        values['torque'][start : start + 2, 0] += 20.0
        values['torque'][start + 40 : start + 42, 0] -= 20.0
    assert repaired(values)[1:] == ([], ())
    values['torque'][450, 0] += 20.0
    assert repaired(values)[1] == [450]
