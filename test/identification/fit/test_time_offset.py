# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf
from scipy.interpolate import make_interp_spline
from simulation import arm, base_values, record

from robodyn_ros.identification.fit import time_offset
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.signals.processed import TimeOffset, correct_offsets
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.recording.recording import Recording

LATE = np.array([0.0052, 0.0, -0.0121])
"""Seconds by which the torque of each joint comes later than its motion."""


def late(recording, seconds=LATE):
    """The same recording with each joint's torque later."""
    torque = np.empty_like(recording.torque)
    for joint, shift in enumerate(seconds):
        spline = make_interp_spline(recording.time, recording.torque[:, joint], k=1)
        torque[:, joint] = spline(recording.time - shift)
    names = ('time', 'position')
    signals = {name: getattr(recording, name)[50:-50] for name in names}
    return Recording(joints=recording.joints, torque=torque[50:-50], source='late', **signals)


@pytest.fixture(scope='module')
def case():
    model, truth = arm(random_urdf(3, 71, types=('revolute',)))
    options = {'noise': 0.01, 'derivatives': False, 'rate': 250.0}
    return model, truth, record(model, truth, 6000, **options)


def offsets(result):
    return {item.joint: item.text for item in result.findings if item.code == 'time_offset'}


def test_offsets_are_found_between_samples_and_set_right(case):
    model, truth, recording = case
    expected, error = base_values(model, truth), {}
    other = late(record(model, truth, 6000, seed=1, noise=0.01, derivatives=False, rate=250.0))
    for choice in ('no', 'auto'):
        options = IdentifyOptions(consistent='no', time_offset=choice)
        result = identify(late(recording), model, options=options, validation=other)
        error[choice] = np.linalg.norm(result.base_values - expected)
        assert bool(offsets(result)) == (choice == 'auto')
    found = offsets(result)
    assert set(found) == {'joint1', 'joint3'}
    times = [float(found[name].split(' ms')[0].split()[-1]) for name in ('joint1', 'joint3')]
    np.testing.assert_allclose(times, [5.2, 12.1], atol=0.5)  # an eighth of a sample
    assert 'after its motion' in found['joint1'] and 'before its motion' in found['joint3']
    assert error['auto'] < 0.4 * error['no']
    assert result.validation.relative_residual < 0.015  # corrected there by as much


@pytest.mark.parametrize('seed', range(2))
def test_nothing_is_corrected_where_there_is_no_offset(case, seed):
    model, truth, _ = case
    given = seed % 2 == 1  # then white noise is not filtered
    recording = record(model, truth, 4000, seed=seed, noise=0.05, derivatives=given)
    assert not offsets(identify(recording, model))


def test_less_than_a_sample_is_only_reported(case):
    model, truth, _ = case
    recording = record(model, truth, 4000, noise=0.01, derivatives=False, rate=50.0)
    found = offsets(identify(late(recording, [0.01, 0.0, -0.01]), model))
    assert 'joint1' in found and 'joint2' not in found
    assert all('The offset was not corrected.' in text for text in found.values())


def test_torque_is_shifted_back_and_ends_are_cut(case):
    model, _, recording = case
    signals = process(recording, model.joint_names, IdentifyOptions())
    found = correct_offsets(signals, {1: TimeOffset(0.0061, 0.9), 2: TimeOffset(-0.004, 0.9)})
    assert len(found) == len(signals) - 3 and found.time[0] == signals.time[1]
    np.testing.assert_array_equal(found.torque[:, 0], signals.torque[1:-2, 0])
    for joint, shift in ((1, 0.0061), (2, -0.004)):
        expected = np.interp(found.time + shift, signals.time, signals.torque[:, joint])
        near = np.abs(found.torque[:, joint] - expected).max()
        assert near < 1e-3 * np.abs(expected).max()
    assert correct_offsets(signals, {}) is signals
    assert correct_offsets(signals, {1: TimeOffset(0.003, 0.9, applied=False)}) is signals


class Unsure:
    """A joint whose best shift is better by a few standard errors, and any other by none."""

    def __init__(self, shift, errors):
        self.shift, self.errors = shift, errors

    def best(self, reach):
        return self.shift

    def gain(self, shift, level):
        return 0.1 if self.errors > level else None


@pytest.mark.parametrize(
    ('shifts', 'errors', 'found'),
    [
        ((2.0, 2.1, 1.9, 2.0), (2.0, 2.0, 2.0, 0.5), 2.0),  # they agree: that of all
        ((2.0, 2.1, 1.9, 2.0), (2.0, 2.0, 2.0, -0.5), 2.0),  # one contradicts it
        ((2.0, -3.0, 0.9, 5.0), (2.0, 2.0, 2.0, 2.0), None),
        ((2.0, 2.1, 1.9, 2.0), (2.0, 2.0, 0.5, 0.5), None),  # the fewer ones
        ((2.0, 2.1, 1.9, 2.0), (5.0, 0.5, 0.5, 2.0), 2.0),  # one is sure
    ],
)
def test_joints_that_agree_have_the_delay_of_their_bus(shifts, errors, found):
    trials = dict(enumerate(map(Unsure, shifts, errors)))
    result = {joint: shift for joint, (shift, _) in time_offset._shifts(trials, 10).items()}
    least = 0.0 if errors[1] > 1.0 else 1.0
    wanted = [joint for joint, each in enumerate(errors) if each > least]
    assert sorted(result) == (wanted if found else [])
    assert all(shift == pytest.approx(found) for shift in result.values())
