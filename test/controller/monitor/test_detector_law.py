# SPDX-License-Identifier: Apache-2.0
"""The collision detector of the controller plugin (C++) against that of the node.

The program `detector_check` runs the plugin's detector. It is built as `law_check` is.
"""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from controller_build import program
from controller_law import result_file
from controller_models import MODELS

pytest.importorskip('rclpy')
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError, Fault
from robodyn_ros.faults import FAULTS, number_of
from robodyn_ros.models.payload import payload_of
from robodyn_ros.nodes.collision_monitor.node import worst_level

PERIOD, COUNT, WINDOW = 0.002, 6000, 0.05
EXCLUDED = np.array([True, False, True, False, False, True])
TIMES = {'period': PERIOD, 'torque_error_filter': 0.4, 'filter_cutoff': 60.0,
         'low_velocity_hold': 0.03, 'debounce': 3, 'settle_time': 0.06, 'stale_timeout': 0.05,
         'frozen_timeout': 0.2}  # fmt: skip


class Samples:
    """Samples of a smooth motion with pushes, and what else comes in; all of it may be changed."""

    def __init__(self, model, values, seed=0):
        random = np.random.default_rng(seed)
        width = len(model.joints)
        low, high = np.clip(model.position_limits(), -1.0, 1.0).T
        speed, phase = random.uniform(0.5, 4.0, width), random.uniform(0.0, 6.0, width)
        self.stamp = 1.7e9 + PERIOD * np.arange(COUNT) + random.uniform(0.0, 3e-4, COUNT)
        angle, half = speed * self.stamp[:, None] % (2.0 * np.pi) + phase, 0.5 * (high - low)
        self.q = low + half * (1.0 + np.sin(angle))
        self.qd, qdd = half * speed * np.cos(angle), -half * speed**2 * np.sin(angle)
        law = ModelTorque(model, values, velocity_window=WINDOW)
        law.exclude_gravity(EXCLUDED[:width])
        self.torque = law.torque(self.q, self.qd, qdd)
        self.size = 0.2 + 0.1 * np.abs(self.torque).max(axis=0)
        self.torque += 0.02 * self.size * random.normal(size=(COUNT, width))
        for begin in random.integers(100, COUNT, 40):
            joint, long = random.integers(width), random.integers(3, 60)
            share = random.uniform(-2.5, 2.5)
            self.torque[begin : begin + long, joint] += share * self.size[joint]
        self.sensitivity, self.reset = np.ones(COUNT), random.random(COUNT) < 0.003
        self.mass = np.full(COUNT, np.nan)

    def settings(self, model, **changed):
        width = len(model.joints)
        return CollisionSettings(
            model.joint_names, max_torque_error=self.size, contact_threshold=0.6 * self.size,
            low_velocity=np.linspace(0.1, 0.3, width),
            low_velocity_torque=np.linspace(0.0, 0.2, width),
            **{**TIMES, **changed},
        )  # fmt: skip


def run(path, each, settings, samples=(), name='detector_check', **options):
    """Run the program with settings by joint and the others."""
    numbers = [str(WINDOW), *(repr(getattr(settings, key)) for key in TIMES)]
    return subprocess.run(
        [program(name), path, *numbers], capture_output=True, timeout=120,
        input=np.concatenate([*each, samples]).astype(float).tobytes(), **options,
    )  # fmt: skip


def by_plugin(path, samples, settings, **options):
    """Levels, errors and thresholds (N, n), latched, worst and fault (N, 3), printed text."""
    width = len(settings.joints)
    each = (settings.collision, settings.contact, settings.low_velocity, settings.extra,
            settings.enabled, EXCLUDED[:width])  # fmt: skip
    given = np.column_stack([
        samples.q, samples.qd, samples.torque, samples.stamp, samples.sensitivity, samples.reset,
        samples.mass,
    ])  # fmt: skip
    done = run(path, each, settings, given.ravel(), **options)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    out = np.frombuffer(done.stdout).reshape(len(given), 3 * width + 3)
    return *(out[:, k * width : (k + 1) * width] for k in range(3)), out[:, 3 * width :], said


def by_node(model, values, samples, settings):
    """The same of the Python detector."""
    torque = ModelTorque(model, values, velocity_window=WINDOW)
    torque.exclude_gravity(EXCLUDED[: len(model.joints)])
    detector = TorqueErrorDetector(torque=torque, settings=settings)
    rows = []
    for k, stamp in enumerate(samples.stamp.tolist()):
        detector.sensitivity = samples.sensitivity[k]
        if samples.reset[k]:
            detector.reset()
        if np.isfinite(samples.mass[k]):
            torque.set_values(values + payload_of(model, samples.mass[k]).added)
            detector.lose(Fault('payload_changed', 'the payload was changed'))
        with np.errstate(all='ignore'):
            detector.update(stamp, samples.q[k], samples.qd[k], samples.torque[k])
        said = (detector.latched, worst_level(detector), number_of(detector.message))
        rows.append([*detector.level, *detector.torque_error, *detector.threshold, *said])
    out, width = np.array(rows, dtype=float), len(model.joints)
    return *(out[:, k * width : (k + 1) * width] for k in range(3)), out[:, 3 * width :]


def check(tmp_path, name, change=lambda samples: None, **changed):
    """Compare; return the levels (N, n) and the names of the faults (N,)."""
    model = MODELS[name]()
    values = np.random.default_rng(1).uniform(0.1, 2.0, len(model.parameters))
    samples = Samples(model, values)
    change(samples)
    settings = samples.settings(model, **changed)
    path = result_file(tmp_path, model, values)
    *found, said = by_plugin(path, samples, settings)
    expected = by_node(model, values, samples, settings)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)
    assert said.endswith('allocations 0\n'), said
    names = {entry.number: name for name, entry in FAULTS.items()}
    return found[0], np.array([names[int(number)] for number in found[3][:, 2]])


@pytest.mark.parametrize('name', ['load of six axes', 'scara', 'springs', 'delta3', 'rotary 2'])
def test_levels_errors_and_thresholds_are_those_of_the_node(name, tmp_path):
    level, fault = check(tmp_path, name)
    assert set(np.unique(level)) == set(map(float, Level))
    assert set(fault) == {'none', 'settling'}


def test_joints_that_are_not_enabled_stay_unknown(tmp_path):
    enabled = [True, False, True, False]
    level, fault = check(tmp_path, 'scara', torque_error_enable=enabled)
    assert not level[:, 1].any() and not level[:, 3].any() and level[:, 0].max() == 3.0
    level, fault = check(tmp_path, 'scara', torque_error_enable=[False] * 4)
    assert not level.any() and 'nothing_monitored' in fault


def trouble(samples):
    """All that may be wrong with samples, one after the other."""
    samples.q[400, 1] = samples.qd[450, 0] = np.nan
    samples.torque[500, 2], samples.torque[550, 0] = np.inf, 1e200
    for kind in (samples.q, samples.qd, samples.torque):
        kind[900:1060] = kind[900]
    samples.stamp[1500:] += 0.006
    samples.stamp[1700:] += 0.049
    samples.stamp[1900:] += 0.3
    samples.stamp[2300] = samples.stamp[2299]
    samples.stamp[2500:] -= 5.0
    samples.stamp[2700:] += 1e6
    samples.stamp[3000:3100] -= 0.9 * PERIOD * np.arange(100)  # ten times as fast
    samples.stamp[3100:] -= 0.9 * PERIOD * 100
    samples.stamp[3400] += 0.02  # and back with the next one
    samples.stamp[3600] = np.nan
    samples.sensitivity[3800:4200], samples.sensitivity[4200:] = 2.0, 0.5
    samples.mass[4300], samples.mass[4350], samples.mass[4800] = 5.0, 2.0, 0.0


@pytest.mark.parametrize('name', ['load of six axes', 'scara'])
def test_gaps_bad_and_frozen_samples_clocks_and_payloads_are_as_in_the_node(name, tmp_path):
    level, fault = check(tmp_path, name, trouble)
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
        ({'stale_timeout': PERIOD}, 'stale_timeout must be above 0.002'),
        ({'debounce': 0}, 'debounce must be at least 1'),
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
