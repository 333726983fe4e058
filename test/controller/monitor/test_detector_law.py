# SPDX-License-Identifier: Apache-2.0
"""The collision detector of the controller plugin (C++) against that of the node.

The program `detector_check` runs the plugin's detector. It is built as `law_check` is.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from controller_build import program
from controller_models import MODELS
from detector_law import PERIOD, Samples, by_node, by_plugin, check, run, trouble
from writers import result_file

from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.faults import FAULTS


@pytest.mark.parametrize('name', ['load of six axes', 'scara', 'springs', 'delta3', 'rotary 2'])
def test_levels_errors_and_thresholds_are_those_of_the_node(name, tmp_path):
    level, _, fault = check(tmp_path, name)
    assert set(np.unique(level)) == set(map(float, Level))
    assert set(fault) == {'none', 'settling'}


def test_joints_that_are_not_enabled_stay_unknown(tmp_path):
    enabled = [True, False, True, False]
    level, _, fault = check(tmp_path, 'scara', torque_error_enable=enabled)
    assert not level[:, 1].any() and not level[:, 3].any() and level[:, 0].max() == 3.0
    level, _, fault = check(tmp_path, 'scara', torque_error_enable=[False] * 4)
    assert not level.any() and 'nothing_monitored' in fault


@pytest.mark.parametrize('name', ['load of six axes', 'scara'])
def test_gaps_bad_and_frozen_samples_clocks_and_payloads_are_as_in_the_node(name, tmp_path):
    level, _, fault = check(tmp_path, name, trouble)
    assert set(fault) == {'none', 'settling', 'state_refused', 'state_frozen', 'state_time_back'}
    assert not (level[fault != 'none'] == Level.OK).any()
    check(tmp_path, name, trouble, frozen_timeout=0.0)


def test_a_torque_error_that_is_not_finite_is_unknown_until_it_has_settled(tmp_path):
    model = MODELS['six_axis']()
    values = np.full(len(model.parameters), 1e10)
    samples, path = Samples(model, values), result_file(tmp_path, model, values)
    samples.qd[300] = 1e150  # its square is finite, the torque of it not
    settings = samples.settings(model)
    level, _, _, state, said = by_plugin(path, samples, settings)
    expected = by_node(model, values, samples, settings)
    np.testing.assert_array_equal(level, expected[0])
    np.testing.assert_array_equal(state, expected[3])
    assert state[300, 2] == FAULTS['torque_not_finite'].number and state[2000, 2] == 0
    assert not (level[300:330] == Level.OK).any() and said.endswith('allocations 0\n')


def test_the_same_under_the_sanitizers(tmp_path):
    folder = Path(program('detector_check')).parent
    if not (folder / 'sanitized').exists():
        pytest.skip('the plugin was built without ROBODYN_SANITIZERS')
    model = MODELS['load of six axes']()
    values = np.random.default_rng(1).uniform(0.1, 2.0, len(model.parameters))
    samples = Samples(model, values)
    trouble(samples)
    settings, path = samples.settings(model), result_file(tmp_path, model, values)
    quiet = {**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'}
    found = by_plugin(path, samples, settings, name='sanitized/detector_check', env=quiet)
    expected = by_plugin(path, samples, settings)
    for one, other in zip(found[:4], expected[:4], strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)


def test_time_of_a_sample_of_six_axes(tmp_path):
    model = MODELS['six_axis']()
    values = np.nan_to_num(model.prior(), nan=1.0)
    samples, path = Samples(model, values), result_file(tmp_path, model, values)
    runs = [by_plugin(path, samples, samples.settings(model))[4] for _ in range(3)]
    # The quietest of three: what else runs on the machine is not the detector's.
    assert min(float(re.search(r'p99 ([\d.]+)', said)[1]) for said in runs) < 20.0, runs


@pytest.mark.parametrize(
    'change, sentence',
    [
        ({'max_torque_error': [1.0, 0.0, 1.0, 1.0]}, 'max_torque_error of joint joint2 must be'),
        ({'contact_threshold': 1e9}, 'is above max_torque_error'),
        ({'filter_cutoff': 400.0}, 'filter_cutoff must be above 0 and at most 200'),
        ({'residual': 'guess'}, 'residual must be filtered or observer, got guess'),
        (
            {'residual': 'observer', 'observer_bandwidth': 251.0},
            'observer_bandwidth must be above 0 and at most 250',
        ),
        ({'observer_bandwidth': 0.0}, 'observer_bandwidth must be above 0'),
        ({'stale_timeout': PERIOD}, 'stale_timeout must be above 0.002'),
        ({'debounce': 0}, 'debounce must be from 1 to 1000'),
        ({'debounce': 1001}, 'debounce must be from 1 to 1000'),
        ({'torque_error_filter': 1.5}, 'torque_error_filter must be'),
        ({'low_velocity': -1.0}, 'low_velocity of joint joint1'),
    ],
)
def test_settings_that_the_node_refuses_are_refused(tmp_path, change, sentence):
    model = MODELS['scara']()
    values = np.ones(len(model.parameters))
    samples = Samples(model, values)
    settings = samples.settings(model)
    with pytest.raises(ControlError):
        given = CollisionSettings(**{**vars(settings), **change})
        TorqueErrorDetector(torque=ModelTorque(model, values), settings=given)
    for key, value in change.items():
        object.__setattr__(settings, key, value)
    names = ('max_torque_error', 'contact_threshold', 'low_velocity', 'low_velocity_torque')
    each = [np.broadcast_to(getattr(settings, name), 4) for name in names]
    done = run(result_file(tmp_path, model, values), [*each, [1.0] * 4, [0.0] * 4], settings)
    assert done.returncode == 1 and sentence in done.stderr.decode(), done.stderr
