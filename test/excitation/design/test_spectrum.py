# SPDX-License-Identifier: Apache-2.0
"""Condition number and determinant, smoothed, switched and differentiated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robodyn_ros.excitation.design.spectrum import (
    SWITCH,
    Spectrum,
    independent_columns,
    log_condition,
    log_det,
)


def test_smoothing_is_above_and_vanishes():
    spectrum = Spectrum.of(np.random.default_rng(0).normal(size=(60, 8)))
    exact, _ = log_condition(spectrum)
    assert 10.0**exact == pytest.approx(spectrum.condition_number)
    values = [log_condition(spectrum, p)[0] for p in (4.0, 20.0, 100.0, 2000.0)]
    assert values == sorted(values, reverse=True) and values[-1] >= exact
    assert values[-1] == pytest.approx(exact, abs=1e-3)


@settings(max_examples=60)
@given(st.floats(1.0, 15.0), st.integers(0, 10**6), st.booleans())
def test_beyond_the_switch_the_determinant_decides(digits, seed, smooth):
    values = np.sort(np.random.default_rng(seed).uniform(1.0, 3.0, 6))[::-1]
    values[-1] = values[0] * 10.0**-digits
    spectrum = Spectrum(values, np.eye(6))
    value, slope = log_condition(spectrum, 10.0 if smooth else np.inf)
    assert np.isfinite(value) and np.isfinite(slope).all()
    if 10.0**digits > SWITCH:
        expected = 6.0 * np.log10(values[0]) - 0.5 * spectrum.log10_det
        assert value == pytest.approx(expected, abs=0.02) and value > np.log10(SWITCH)
        more = values * np.r_[1.0, 2.0, 1.0, 1.0, 1.0, 1.0]
        change = log_condition(Spectrum(values + 1e-7 * (more - values), np.eye(6)))[0] - value
        assert change == pytest.approx(1e-7 * slope @ (more - values), rel=1e-4)
    elif not smooth:
        assert value == pytest.approx(digits, abs=1e-6)


def test_motion_that_reveals_nothing_is_finite_as_long_as_anything_moves():
    lost = Spectrum.of(np.c_[np.ones(10), np.ones(10), np.arange(10.0)])
    assert lost.condition_number > 1e14
    for value, slope in (log_condition(lost), log_det(lost)):
        assert np.isfinite(value) and np.isfinite(slope).all()
    nothing = Spectrum.of(np.zeros((10, 3)))
    assert nothing.condition_number == np.inf == log_condition(nothing)[0]
    assert nothing.log10_det == -np.inf


def test_independent_columns_keep_the_rank_and_the_order():
    random = np.random.default_rng(3)
    base = random.normal(size=(50, 4))
    matrix = np.c_[base[:, 0], np.zeros(50), 2.0 * base[:, 0], base[:, 1:], base @ np.ones(4)]
    assert independent_columns(matrix).tolist() == [0, 3, 4, 5]
