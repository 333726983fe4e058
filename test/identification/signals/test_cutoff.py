# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.signal import lfilter
from simulation import sines

from robodyn_ros.identification.signals.cutoff import (
    Cutoffs,
    automatic_cutoff,
    cutoffs_of,
    motion_cutoffs,
    moving_joints,
    noise_density,
)
from robodyn_ros.recording.signals import low_pass


def test_faster_motion_gets_a_higher_cutoff():
    time = np.arange(8000) / 1000.0
    q = np.column_stack([np.sin(2 * np.pi * 0.5 * time), 0.1 * np.sin(2 * np.pi * 6.0 * time)])
    assert automatic_cutoff(q, 1000.0) == pytest.approx(8 * 6.0, rel=0.1)


def test_noise_lowers_the_cutoff_but_not_into_the_motion():
    random = np.random.default_rng(0)
    _, q, _, qdd = sines(2, 10000, rate=500.0)
    cutoffs = []
    for noise in (1e-7, 1e-4, 1e-3, 1e-2):
        noisy = q + noise * random.normal(size=q.shape)
        cutoffs.append(automatic_cutoff(noisy, 500.0))
    assert cutoffs == sorted(cutoffs, reverse=True)
    assert cutoffs[0] == pytest.approx(20.0) and cutoffs[2] < 15.0
    # Highest sine at 0.65 Hz.
    assert cutoffs[-1] > 1.3
    # The noise that 1e-3 rad leave in the accelerations below the cut-off, in theory.
    density = 1e-3**2 / 250.0
    left = np.sqrt(density * (2 * np.pi) ** 4 * cutoffs[2] ** 5 / 5)
    assert left == pytest.approx(0.1 * np.median(qdd.std(axis=0)), rel=0.25)


@pytest.mark.parametrize('samples', [1100, 2600])
def test_noise_is_a_tenth_of_the_accelerations_of_a_short_recording(samples):
    """One spectrum without averages: its median is 0.7 of its mean."""
    _, q, _, qdd = sines(2, samples, rate=500.0)
    noise = 1e-3 * np.random.default_rng(0).normal(size=(8, *q.shape))
    cutoffs = np.array([automatic_cutoff(q + each, 500.0) for each in noise])
    left = np.sqrt(1e-3**2 / 250.0 * (2 * np.pi) ** 4 * cutoffs**5 / 5)
    assert left.mean() == pytest.approx(0.1 * np.median(qdd.std(axis=0)), rel=0.06)


def test_noise_that_is_filtered_at_the_top_is_seen_below_it():
    """As in a drive, or where samples were interpolated: nothing is left at half the rate."""
    random = np.random.default_rng(3)
    _, q, _, _ = sines(3, 20000, rate=1000.0)
    white = q + 1e-3 * random.normal(size=q.shape)
    smooth = q + low_pass(1e-3 * random.normal(size=q.shape), 150.0, 1000.0)
    expected = automatic_cutoff(white, 1000.0)
    assert 5.0 < expected < 15.0
    assert automatic_cutoff(smooth, 1000.0) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(('rate', 'highest'), [(50.0, 10.0), (5000.0, 124.0)])
def test_cutoff_stays_below_what_the_sampling_rate_carries(rate, highest):
    time = np.arange(int(6 * rate)) / rate
    q = np.sin(2 * np.pi * min(0.2 * rate, 60.0) * time)[:, None]
    assert automatic_cutoff(q, rate) == pytest.approx(highest)


def test_standstill_gets_the_default():
    assert automatic_cutoff(np.ones((500, 2)), 500.0) == 20.0
    assert automatic_cutoff(np.ones((500, 2)), 50.0) == 10.0


@pytest.mark.parametrize('seed', range(2))
def test_white_noise_at_rest_has_no_say(seed):
    """Its spectrum has peaks by chance, at any frequency."""
    rest = 1e-5 * np.random.default_rng(seed).normal(size=(20_000, 3))
    assert motion_cutoffs(rest, 1000.0) is None
    assert automatic_cutoff(rest, 1000.0) == 20.0


def test_noise_is_at_least_that_of_the_encoder_at_the_rate_of_its_steps():
    step = 1e-4
    coarse = step * np.floor(np.arange(20_000) / 10.0)[:, None]  # 100 steps per second
    assert noise_density(coarse, 1000.0)[0] == pytest.approx(step**2 / 12.0 / 50.0, rel=0.01)
    white = 1e-3 * np.random.default_rng(0).normal(size=(20_000, 1))
    assert noise_density(white, 1000.0)[0] == pytest.approx(1e-3**2 / 500.0, rel=0.1)


@pytest.mark.parametrize('rate', [100.0, 1000.0])
@pytest.mark.parametrize('fastest', [4.0, 8.0])
def test_the_flat_spectrum_of_a_chirp_is_not_taken_for_noise(rate, fastest):
    time = np.arange(int(30.0 * rate)) / rate
    q = 0.3 * np.sin(2.0 * np.pi * (0.1 * time + (fastest - 0.1) / 60.0 * time**2))[:, None]
    q += 1e-5 * np.random.default_rng(0).normal(size=q.shape)
    found = cutoffs_of(q, rate)
    assert found.lowest == pytest.approx(2.0 * fastest, rel=0.2)
    assert found.used == pytest.approx(min(8.0 * fastest, 0.2 * rate), rel=0.2)


@pytest.mark.parametrize('noise', [1e-5, 1e-3])
@pytest.mark.parametrize('seed', range(2))
def test_the_ripples_of_a_spectrum_of_moves_are_not_taken_for_noise(seed, noise):
    """Moves of 0.6 s to random places."""
    random, time = np.random.default_rng(seed), np.arange(20_000) / 1000.0
    begin = np.cumsum(0.6 + random.uniform(0.0, 0.3, 40))
    part = np.clip((time[:, None] - begin) / 0.6, 0.0, 1.0)
    q = (part**3 * (10.0 - 15.0 * part + 6.0 * part**2)) @ random.uniform(-1.0, 1.0, (40, 1))
    found = automatic_cutoff(q + noise * random.normal(size=q.shape), 1000.0)
    assert 13.0 < found < 32.0


@pytest.mark.parametrize('noise', [0.0, 3e-3])
def test_gaps_leave_the_range_of_cutoffs_as_it_is(noise):
    """Pauses that are cut out, and a stretch of every third second: interpolation is no noise."""
    time, q, _, _ = sines(2, 12000, rate=100.0)
    q = q + noise * np.random.default_rng(0).normal(size=q.shape)
    expected = cutoffs_of(q, 100.0)
    for gaps in (time % 6.0 < 3.0, time % 3.0 < 0.5):
        filled = q.copy()
        for joint in range(2):
            filled[gaps, joint] = np.interp(time[gaps], time[~gaps], q[~gaps, joint])
        found = cutoffs_of(filled, 100.0, gaps)
        assert found.used == pytest.approx(expected.used, rel=0.15)
        assert 0.7 * expected.lowest < found.lowest < 3.0 * expected.lowest


def test_other_recordings_are_filtered_like_the_first_and_faster_ones_higher():
    """A low cut-off removes motion that the parameters were fitted to."""
    slow, fast = Cutoffs(1.0, 20.0, 20.0), Cutoffs(5.0, 40.0, 40.0)
    assert slow.like(Cutoffs(1.0, 5.0, 20.0), 500.0).used == 5.0  # although it has less noise
    assert fast.like(Cutoffs(1.0, 5.0, 20.0), 500.0).used == 10.0
    assert slow.like(fast, 500.0).used == 40.0 and slow.like(fast, 100.0).used == 20.0


@pytest.mark.parametrize('noise', [1e-5, 1e-3])
@pytest.mark.parametrize('memory', [0.0, 0.9, 0.99])
@pytest.mark.parametrize('step', [0.0, 2.0])
def test_joints_that_rest_with_noise_of_any_kind_do_not_move(noise, memory, step):
    """Five resting joints of seven: noise that drifts is no motion either (0.9: 4 Hz)."""
    time = np.arange(2500) / 250.0
    white = np.random.default_rng(0).normal(size=(2500, 7))
    q = noise * lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white, axis=0)
    q[:, 1] += 0.6 * np.sin(2 * np.pi * 0.4 * time) + 0.3 * np.sin(2 * np.pi * 1.1 * time)
    q[:, 3] += 0.5 * np.sin(2 * np.pi * 0.7 * time)
    if step:
        q = np.round(q / (step * noise)) * (step * noise)
    assert np.flatnonzero(moving_joints(q)).tolist() == [1, 3]
    assert 5.0 < automatic_cutoff(q, 250.0) <= 20.0


@pytest.mark.parametrize('repeats', [1, 3])
@pytest.mark.parametrize('rate', [50.0, 1000.0])
def test_a_slow_joint_with_a_coarse_encoder_moves(rate, repeats):
    """Also where most samples repeat the one before."""
    time = np.arange(int(10.0 * rate)) // repeats * repeats / rate
    step = 2.0 * np.pi / 2**12
    q = np.round(0.3 * np.sin(2.0 * np.pi * 0.1 * time)[:, None] / step) * step
    assert moving_joints(q).all()


def test_a_joint_that_moves_by_an_encoder_step_does_not_move():
    q = np.zeros((2500, 2))
    q[700:, 0] += 1e-4
    q[300:900, 1] -= 1e-4
    q[1500:, 1] += 1e-4
    assert not moving_joints(q).any()
