# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from simulation import sines

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.cutoff import Cutoffs
from robodyn_ros.identification.signals.processing import process, thinning_for
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import low_pass

JOINTS = ('a', 'b')


def recording(samples=4000, rate=500.0, **changes):
    time, q, _, _ = sines(2, samples, rate=rate)
    signals = {'time': time, 'joints': JOINTS, 'position': q, 'torque': np.cos(q)}
    return Recording(**(signals | changes))


def given():
    time, q, qd, qdd = sines(2, 3000)
    return Recording(
        time=time, joints=JOINTS, position=q, velocity=qd, acceleration=qdd, torque=np.cos(q)
    )


def test_derivatives_are_those_of_the_motion():
    signals = process(recording(), JOINTS, IdentifyOptions())
    _, q, qd, qdd = sines(2, 4000, rate=500.0)
    rows = slice((4000 - len(signals)) // 2, (4000 + len(signals)) // 2)
    np.testing.assert_allclose(signals.position, q[rows], atol=1e-4)
    np.testing.assert_allclose(signals.velocity, qd[rows], atol=1e-3)
    np.testing.assert_allclose(signals.acceleration, qdd[rows], atol=0.03)
    np.testing.assert_array_equal(signals.measured, np.cos(q[rows]))
    assert signals.cutoff == pytest.approx(20.0) and signals.raw_samples == 4000
    assert 100 <= 4000 - len(signals) <= 102


def test_given_derivatives_are_used_as_they_are():
    signals = process(given(), JOINTS, IdentifyOptions())
    _, q, qd, qdd = sines(2, 3000)
    for got, expected in zip(signals.motion, (q, qd, qdd), strict=True):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(signals.torque, np.cos(q))
    assert signals.cutoff is None and signals.thinning.stride == 1


@pytest.mark.parametrize(
    'given', [recording(), replace(given(), acceleration=np.zeros((3000, 2)))]
)
def test_asking_for_derivatives_that_are_not_there_is_refused(given):
    with pytest.raises(IdentificationError, match='no velocities and accelerations'):
        process(given, JOINTS, IdentifyOptions(derivatives='given'))


def test_slow_samples_do_not_count():
    options = IdentifyOptions(velocity_share=0.3)
    signals = process(given(), JOINTS, options)
    speed = np.abs(signals.velocity) / np.abs(signals.velocity).max(axis=0)
    np.testing.assert_array_equal(signals.moving, speed >= 0.3)
    np.testing.assert_array_equal(signals.used, speed >= 0.001)
    np.testing.assert_allclose(signals.threshold, 0.3 * np.abs(signals.velocity).max(axis=0))


def test_frozen_joint_is_found_although_it_is_noisy():
    random = np.random.default_rng(0)
    position = np.array(recording().position)
    position[:, 1] = 0.3 + 1e-5 * random.normal(size=len(position))
    signals = process(recording(position=position), JOINTS, IdentifyOptions())
    assert [(f.code, f.joint, f.severity) for f in signals.findings] == [
        ('frozen_joint', 'b', 'warning')
    ]
    assert not signals.used[:, 1].any() and signals.used[:, 0].any()


@pytest.mark.parametrize(('torque', 'code'), [(0.0, 'zero_torque'), (3.0, 'constant_torque')])
def test_a_torque_that_never_changes_is_not_used(torque, code):
    plain = recording()
    signals = process(
        recording(torque=np.column_stack([plain.torque[:, 0], np.full(len(plain), torque)])),
        JOINTS,
        IdentifyOptions(),
    )
    assert [(item.code, item.joint) for item in signals.findings] == [(code, 'b')]
    assert signals.used[:, 0].any() and not signals.used[:, 1].any()


@pytest.mark.parametrize(('rate', 'cutoff'), [(1000.0, 20.0), (125.0, 20.0), (200.0, 40.0)])
def test_thinning_passes_the_motion_and_stops_what_would_alias(rate, cutoff):
    thinning = thinning_for(rate, cutoff)
    assert (len(thinning.taps) - 1) % thinning.stride == 0
    frequency = np.linspace(0, rate / 2, 500)
    delay = np.arange(len(thinning.taps)) - len(thinning.taps) // 2
    gain = np.abs(np.exp(2j * np.pi * frequency[:, None] / rate * delay) @ thinning.taps)
    np.testing.assert_allclose(gain[frequency < 0.5 * cutoff], 1.0, atol=0.02)
    if thinning.stride > 1:
        assert gain[frequency > 3.5 * cutoff].max() < 0.01


@pytest.mark.parametrize('samples', [2, 10, 23])
def test_too_few_samples_are_refused(samples):
    with pytest.raises(IdentificationError, match='too few to filter and differentiate'):
        process(recording(samples=samples), JOINTS, IdentifyOptions())


def test_a_short_recording_is_filtered_where_a_lower_cutoff_is_tried():
    """The torque keeps the highest cut-off, where the length carries no lower one."""
    short = recording(samples=40, rate=100.0)
    lowered = process(short, JOINTS, IdentifyOptions(), cutoffs=Cutoffs(1.0, 4.5, 20.0))
    usual = process(short, JOINTS, IdentifyOptions(), cutoffs=Cutoffs(1.0, 18.0, 20.0))
    assert lowered.cutoff == pytest.approx(600.0 / 39.0) and usual.cutoff == 18.0
    rows = slice(2, 14)  # both margins are cut off
    expected = low_pass(short.torque, 20.0, 100.0)
    at = np.searchsorted(short.time, lowered.time[rows])
    np.testing.assert_allclose(lowered.torque[rows], expected[at], atol=1e-6)


@pytest.mark.parametrize(
    ('rate', 'options', 'message'),
    [
        (1000.0, {'filter_cutoff': 126.0}, 'recording: the filter cut-off must be below 125 Hz'),
        (500.0, {'filter_cutoff': 101.0}, 'at most a fifth of the sampling rate of 500 Hz'),
    ],
)
def test_cutoffs_that_cannot_be_are_refused(rate, options, message):
    _, _, qd, qdd = sines(2, 20000, rate=rate)
    whole = recording(20000, rate, velocity=qd, acceleration=qdd)
    with pytest.raises(IdentificationError, match=message):
        process(whole, JOINTS, IdentifyOptions(derivatives='given', **options))


def test_a_cutoff_that_is_asked_for_filters_without_delay():
    time, q, qd, _ = sines(2, 20000, rate=1000.0)
    noise = 0.01 * np.sin(2 * np.pi * 200.0 * time)[:, None]
    noisy = recording(20000, 1000.0, position=q + noise, torque=np.cos(q) + noise)
    signals = process(noisy, JOINTS, IdentifyOptions(filter_cutoff=40.0))
    assert signals.cutoff == 40.0
    rows = round(1000.0 * signals.time[0]) + np.arange(len(signals))
    np.testing.assert_allclose(signals.time, time[rows], atol=1e-9)
    np.testing.assert_allclose(signals.position, q[rows], atol=1e-4)
    np.testing.assert_allclose(signals.torque, np.cos(q[rows]), atol=2e-4)
    np.testing.assert_allclose(signals.velocity, qd[rows], atol=5e-3)
    np.testing.assert_array_equal(signals.measured_position, (q + noise)[rows])


def test_what_the_filter_spreads_of_a_long_gap_is_not_used():
    """Twice differentiated, a poor guess in a gap of 0.2 s would ruin the samples around it."""
    time, q, _, _ = sines(2, 4000, rate=500.0)
    whole = recording(position=q + 0.01 * np.sin(2.0 * np.pi * 8.0 * time)[:, None])
    seen = np.ones(4000, dtype=bool)
    seen[2000:2100] = False
    gappy = recording(
        time=whole.time[seen], position=whole.position[seen], torque=whole.torque[seen]
    )
    signals = process(gappy, JOINTS, IdentifyOptions(filter_cutoff=20.0))
    exact = process(whole, JOINTS, IdentifyOptions(filter_cutoff=20.0))
    assert len(signals) == len(exact)
    error = np.abs(signals.acceleration - exact.acceleration)
    assert error.max() > 1.0
    assert error[signals.used].max() < 1e-3 * error.max()
    assert 0.9 < signals.used.mean() < 0.95


@pytest.mark.parametrize('half', [0.49, 0.5, 0.55])
def test_long_gaps_do_not_lower_the_cutoff(half):
    """No cut-off makes them shorter: each second stretch of 3 s is missing."""
    time, q, _, _ = sines(2, 6000, rate=100.0)
    whole, kept = recording(time=time, position=q, torque=q), time % 6.0 > 6.0 * half
    gappy = recording(time=time[kept], position=q[kept], torque=q[kept])
    signals = process(gappy, JOINTS, IdentifyOptions())
    assert signals.cutoff == process(whole, JOINTS, IdentifyOptions()).cutoff == 20.0
    assert signals.used.all(axis=1).mean() > 0.35


def test_decimation_can_be_asked_for():
    asked = process(recording(), JOINTS, IdentifyOptions(decimation=10)).thinning
    assert asked.stride == 10 and len(asked.taps) == 81
    time = np.arange(2000) / 500.0
    for frequency, passes in ((5.0, 1.0), (20.0, 0.5), (35.0, 0.0)):  # the edge is at 20 Hz
        wave = np.sin(2.0 * np.pi * frequency * time)[:, None]
        expected = passes * wave[asked.centres(len(time))][: asked.count(len(time))]
        np.testing.assert_allclose(asked.apply(wave), expected, atol=0.02)
    assert process(given(), JOINTS, IdentifyOptions(decimation=4)).thinning.stride == 4
    plain = process(recording(), JOINTS, IdentifyOptions(decimation=1)).thinning
    assert plain.stride == 1 and len(plain.taps) == 1
    with pytest.raises(IdentificationError, match='decimation must be at least 1, got 0'):
        IdentifyOptions(decimation=0)
