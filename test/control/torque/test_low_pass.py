# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, lfilter

from robodyn_ros.control.torque.low_pass import MatchedLowPass
from robodyn_ros.errors import ControlError

PERIOD = 0.002


def run(signal: np.ndarray, cutoff: float = 40.0) -> tuple[np.ndarray, np.ndarray]:
    low_pass = MatchedLowPass(signals=1, width=1, cutoff=cutoff, period=PERIOD)
    low_pass.restart(signal[:1, None])
    values, slopes = [], []
    for sample in signal:
        low_pass.update(np.array([[sample]]))
        values.append(low_pass.value[0, 0])
        slopes.append(low_pass.derivative[0, 0])
    return np.array(values), np.array(slopes)


@pytest.mark.parametrize('cutoff', [10.0, 40.0, 100.0])
def test_value_is_scipys_butterworth(cutoff: float) -> None:
    signal = np.random.default_rng(0).normal(size=300)
    signal[0] = 0.0
    expected = lfilter(*butter(2, cutoff, fs=1.0 / PERIOD), signal)
    np.testing.assert_allclose(run(signal, cutoff)[0], expected, atol=1e-12)


def test_derivative_and_value_are_delayed_alike() -> None:
    rate = 2.0 * np.pi * 3.0
    time = np.arange(1500) * PERIOD
    value, slope = run(np.sin(rate * time))
    tail = slice(500, None)
    # Fit a sin + b cos to both: the derivative must be rate * value, a quarter turn ahead.
    basis = np.stack([np.sin(rate * time[tail]), np.cos(rate * time[tail])], axis=1)
    (a, b), (c, d) = (np.linalg.lstsq(basis, part[tail], rcond=None)[0] for part in (value, slope))
    np.testing.assert_allclose([c, d], rate * np.array([-b, a]), rtol=2e-4)


def test_it_starts_settled_and_a_ramp_has_its_slope() -> None:
    value, slope = run(np.full(20, 7.0))
    np.testing.assert_allclose(value, 7.0, rtol=1e-12)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)
    assert run(3.0 * np.arange(200) * PERIOD)[1][-1] == pytest.approx(3.0)


@pytest.mark.parametrize('cutoff', [0.0, 250.0, np.nan])
def test_refuses_a_cutoff_that_is_no_low_pass(cutoff: float) -> None:
    with pytest.raises(ControlError, match='filter_cutoff must be above 0 and at most 200 Hz'):
        MatchedLowPass(signals=1, width=1, cutoff=cutoff, period=PERIOD)
