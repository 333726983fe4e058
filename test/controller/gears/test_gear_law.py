# SPDX-License-Identifier: Apache-2.0
"""Torque by gear deflection of the controller plugin: the law of Python, filters of scipy."""

import numpy as np
import pytest
from controller_gears import SIZES, by_plugin, random_law
from controller_law import SETTINGS, run_law
from controller_models import MODELS
from nonsense import Nonsense, check_promise
from scipy.signal import butter, lfilter, lfilter_zi
from writers import result_file

from robodyn_ros.models.gear_torque import GearTorqueLaw

PERIOD = 0.002
KINDS = [(kind, inputs) for kind in ('rbf', 'gmr') for inputs in (2, 3)]


def written(folder, law: GearTorqueLaw, name='six_axis'):
    """Result file with this torque, its model and the values."""
    model = MODELS[name]()
    values = np.nan_to_num(model.prior(), nan=1.0)
    return result_file(folder, model, values, residual=law), model, values


def six(kind, inputs, **rest):
    return random_law(MODELS['six_axis']().joint_names, kind, inputs, **rest)


@pytest.mark.parametrize(('kind', 'inputs'), KINDS)
def test_the_law_is_that_of_python_within_and_beyond_the_training(kind, inputs, tmp_path):
    law, random = six(kind, inputs), np.random.default_rng(3)
    given = random.uniform(-1.6, 1.6, (3000, 3, 6)) * SIZES[:, None]
    given[:, 2] *= np.abs(given[:, 2])
    for wrong in (np.nan, np.inf, -np.inf, 1e308, 0.0, -0.0):
        given[random.integers(3000, size=30), random.integers(3, size=30), 2] = wrong
    torque = by_plugin(written(tmp_path, law)[0], given)
    with np.errstate(all='ignore'):
        expected = law.torque(*given.transpose(1, 0, 2))
    np.testing.assert_allclose(torque, expected, rtol=0.0, atol=1e-9, equal_nan=True)
    assert np.isnan(torque).any() and (torque == 0.0).any()
    assert (np.nanmax(np.abs(torque), axis=0) == law.limit).any()


def swing(model, count):
    """A smooth motion, its measured positions, and the deflection of its gears."""
    time = PERIOD * np.arange(count)[:, None]
    speed = np.linspace(1.0, 4.0, len(model.joints))
    angle = speed * time + np.arange(len(model.joints))
    states = [0.7 * np.sin(angle), 0.7 * speed * np.cos(angle), -0.7 * speed**2 * np.sin(angle)]
    return states, states[0] + 1e-3 * np.cos(angle), 0.9 * SIZES[0] * np.sin(1.3 * angle)


def low_passed(signal, cutoff):
    """Value and derivative of a Butterworth low pass that is settled on the first sample."""
    below, above = butter(2, cutoff, fs=1.0 / PERIOD)
    slope = below[0] * 2.0 / PERIOD * np.array([1.0, 0.0, -1.0])  # below: gain * (1, 2, 1)
    for numerator in (below, slope):
        start = lfilter_zi(numerator, above)[:, None] * signal[0]
        yield lfilter(numerator, above, signal, axis=0, zi=start)[0]


@pytest.mark.parametrize(('kind', 'inputs'), KINDS)
@pytest.mark.parametrize('cutoff', [20.0, 0.0])
def test_it_is_the_law_of_low_passed_measurements(kind, inputs, cutoff, tmp_path):
    law = six(kind, inputs, cutoff=cutoff)
    path, model, _ = written(tmp_path, law)
    states, measured, deflection = swing(model, 600)
    motor = law.gear_ratio * (measured + deflection)
    options = {'window': 0.05, 'limit': 1e4, 'rate': 1e7, 'measured': measured}
    options['time'] = 1.0 + PERIOD * np.arange(600)
    both = run_law(path, states, gears=(0.7, motor), **options)
    alone = run_law(path, states, **options)
    np.testing.assert_array_equal(both.requested, alone.requested)
    highest = 0.4 / PERIOD  # without a cut-off in training
    value, rate = low_passed(deflection, cutoff or highest)
    velocity = list(low_passed(measured + deflection, cutoff or highest))[1]
    cycle = np.arange(1, 601)[:, None] * PERIOD
    ramps = [
        np.minimum(cycle / SETTINGS[name], 1.0) for name in ('ramp_up_time', 'ramp_down_time')
    ]
    share = SETTINGS['feedforward_scale'] * 0.7 * ramps[0] * ramps[1]
    expected = share * law.torque(value, rate, velocity)
    np.testing.assert_allclose(both.applied - alone.applied, expected, rtol=0.0, atol=1e-8)
    assert np.abs(expected[100:]).max() > 1.0
    assert both.said.endswith('allocations 0\n') and set(both.fault) == {''}


def test_without_motor_positions_it_fades_to_the_torque_of_the_model_and_comes_back(tmp_path):
    law = six('rbf', 3)
    path, model, _ = written(tmp_path, law)
    states, measured, deflection = swing(model, 900)
    motor = law.gear_ratio * (measured + deflection)
    motor[400:600, 3] = np.nan
    options = {'window': 0.05, 'limit': 1e4, 'rate': 1e7, 'measured': measured}
    both = run_law(path, states, gears=(1.0, motor), **options)
    added = both.applied - run_law(path, states, **options).applied
    gone = 400 + round((0.02 + SETTINGS['ramp_down_time']) / PERIOD) + 1
    assert np.abs(added[399]).max() > 1.0 and np.abs(added[620:]).max() > 1.0
    np.testing.assert_allclose(added[gone:600], 0.0, atol=1e-12)
    steps = np.abs(np.diff(added[408:gone], axis=0))  # in equal steps, not at once
    assert (steps <= np.abs(added[408]) / (SETTINGS['ramp_down_time'] / PERIOD) + 1e-9).all()
    assert set(both.fault) == {''}


def test_a_pause_of_the_loop_forgets_the_measurements(tmp_path):
    law = six('gmr', 3)
    path, model, _ = written(tmp_path, law)
    states, measured, deflection = swing(model, 400)
    motor = law.gear_ratio * (measured + deflection)
    time, elapsed = PERIOD * np.arange(400), np.full(400, PERIOD)
    time[200:] += 1.0
    elapsed[200] += 1.0
    options = {'window': 0.05, 'limit': 1e4, 'rate': 1e7, 'measured': measured, 'time': time}
    both = run_law(path, states, gears=(1.0, motor), elapsed=elapsed, **options)
    alone = run_law(path, states, elapsed=elapsed, **options)
    added = np.abs(both.applied - alone.applied).max(axis=1)
    assert added[199] > 1.0 and added[200] == 0.0 and 0.0 < added[201] < 0.01 * added[199]
    assert added[-1] > 1.0


def test_fuzzed_cycles_with_deflections_never_give_a_wrong_torque(tmp_path):
    law = six('rbf', 3)
    path, given = written(tmp_path, law)[0], Nonsense(200_000, 6, 7, law.gear_ratio)
    applied = check_promise(path, given).applied
    given.rest['gears'] = 0.0, given.rest['gears'][1]
    assert (applied != check_promise(path, given).applied).any(axis=1).sum() > 1000


def test_the_same_under_the_sanitizers(tmp_path):
    law = six('gmr', 3)
    path, given = written(tmp_path, law)[0], Nonsense(20_000, 6, 8, law.gear_ratio)
    check_promise(path, given, folder='sanitized')
