import numpy as np
import pytest
from simulation import sines

from robodyn_ros.identification.cutoff import automatic_cutoff


def test_smooth_slow_motion_gets_the_least_cutoff():
    _, q, _, _ = sines(3, 5000, rate=500.0)
    assert automatic_cutoff(q, 500.0) == pytest.approx(20.0)


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


@pytest.mark.parametrize(('rate', 'highest'), [(50.0, 10.0), (5000.0, 124.0)])
def test_cutoff_stays_below_what_the_sampling_rate_carries(rate, highest):
    time = np.arange(int(6 * rate)) / rate
    q = np.sin(2 * np.pi * min(0.2 * rate, 60.0) * time)[:, None]
    assert automatic_cutoff(q, rate) == pytest.approx(highest)


def test_standstill_gets_the_default():
    assert automatic_cutoff(np.ones((500, 2)), 500.0) == 20.0
    assert automatic_cutoff(np.ones((500, 2)), 50.0) == 10.0
