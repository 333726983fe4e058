# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.signal import lfilter

from robodyn_ros.control.collision.motion_bands import Bands
from robodyn_ros.control.collision.ramp_law import (
    KINDS,
    LEVEL,
    ORDER,
    RAMPS,
    SCORES,
    ErrorSamples,
    RampLaw,
    RampScores,
    pieces,
    ramp_gains,
    ramp_taps,
)

RANDOM = np.random.default_rng(5)
WIDTH = 3
WHITENING = np.zeros((WIDTH, ORDER))
WHITENING[:, :2] = [[0.9, -0.2], [0.5, 0.1], [1.2, -0.5]]
BANDS = Bands(
    np.full(WIDTH, 0.1), np.sort(RANDOM.uniform(0.2, 1.0, (WIDTH, 2))), np.full((WIDTH, 1), 2.0)
)
SPREAD = RANDOM.normal(size=(SCORES, WIDTH, 8))


def law(period: float) -> RampLaw:
    return RampLaw(
        period, BANDS, np.full(WIDTH, 1.0), np.full(WIDTH, 4.0),
        mean=RANDOM.normal(size=(1 + KINDS * WIDTH, WIDTH)),
        whitening=np.stack([WHITENING, 0.5 * WHITENING], axis=1),
        scale=RANDOM.uniform(0.5, 2.0, (WIDTH, BANDS.cells, SCORES)),
        covariance=SPREAD @ SPREAD.transpose(0, 2, 1), single=1.7, joint=2.5,
    )  # fmt: skip


def samples(count: int, period: float) -> ErrorSamples:
    time = 7.0 + period * np.arange(count)
    angle = np.array([1.0, 1.7, 2.3]) * time[:, None]
    rests = (time % 12.0 > 4.0) & (time % 12.0 < 11.5)
    error = RANDOM.normal(size=angle.shape) + np.cos(angle)
    return ErrorSamples(
        time, np.sin(angle), 1.2 * np.cos(angle), 4.5 * np.sin(angle), error, rests
    )


@pytest.mark.parametrize('period', [0.01, 0.001])
def test_one_sample_after_the_other_it_is_the_same_law(period: float) -> None:
    given, data = law(period), samples(2000 if period == 0.01 else 16_000, period)
    by_one, together = RampScores(given), RampScores(given)
    for each in (by_one, together):
        each.restart(7.0)
        each.settle(data.rows(slice(0, 10)))
    rest = data.rows(slice(10, None))
    rows, last = pieces(rest.time, rest.rests), 0
    assert len(rows) > 3
    for first, end in pairwise(sorted({*rows, 333})):
        together.take(rest.rows(slice(first, end)))
        single, joint = together.ratios()
        for k in range(first, end):
            by_one.take(rest.rows(slice(k, k + 1)))
            np.testing.assert_allclose(by_one.scores[0], together.scores[k - first], atol=1e-9)
            np.testing.assert_array_equal(by_one.cell[0], together.cell[k - first])
            alone = by_one.ratios()
            np.testing.assert_allclose(alone[0][0], single[k - first], rtol=1e-9)
            np.testing.assert_allclose(alone[1][0], joint[k - first], rtol=1e-9)
            last = k
    assert last == len(rest.time) - 1


def test_a_score_is_the_generalised_likelihood_ratio_of_a_ramp() -> None:
    """z = s' C^-1 r / sqrt(s' C^-1 s) with the covariance C of the noise, for a long window."""
    spacing = 0.01
    taps = ramp_taps(WHITENING, spacing)
    count = taps.shape[1]
    for joint, whitening in enumerate(WHITENING):
        white = np.concatenate([[1.0], -whitening])
        response = lfilter([1.0], white, np.eye(1, 3000)[0])
        lags = [response[: len(response) - k] @ response[k:] for k in range(200)]
        inverse = np.linalg.inv(toeplitz(lags))
        for score, duration in enumerate(RAMPS):
            length = round(duration / spacing)
            ramp = np.zeros(200)
            ramp[-length:] = spacing * np.arange(1, length + 1) / duration
            expected = inverse @ ramp / np.sqrt(ramp @ inverse @ ramp)
            np.testing.assert_allclose(taps[joint, :, score], expected[-count:], atol=1e-6)
            np.testing.assert_allclose(expected[:-count], 0.0, atol=1e-6)


def test_the_gain_is_the_score_at_the_end_of_a_ramp_to_one() -> None:
    taps = ramp_taps(WHITENING, 0.01)
    series = np.concatenate([np.zeros(20), np.arange(1, 11) / 10.0])[-taps.shape[1] :]
    np.testing.assert_allclose(ramp_gains(taps, 0.01)[:, 2], taps[:, :, 2] @ series, rtol=1e-9)


def test_the_mean_is_bounded_beyond_the_learned_motion_and_the_scales_grow() -> None:
    given, data = law(0.01), samples(1, 0.01)
    fast = replace(data, velocity=np.full((1, WIDTH), 1.0), acceleration=np.full((1, WIDTH), 4.0))
    faster = replace(fast, velocity=3.0 * fast.velocity, acceleration=2.0 * fast.acceleration)
    np.testing.assert_array_equal(given.features(fast), given.features(faster))
    usual, grown = RampScores(given), RampScores(given)
    for scores, moved in ((usual, fast), (grown, faster)):
        scores.settle(moved)
        scores.take(moved)
    np.testing.assert_allclose(grown.scale, 3.0 * usual.scale)


def test_a_joint_that_is_not_enabled_counts_for_none() -> None:
    given, data = law(0.01), samples(60, 0.01)
    data = replace(data, rests=np.zeros(60, dtype=bool))
    loud = data.error.copy()
    loud[:, 1] += 50.0 * RANDOM.normal(size=60)
    found = []
    for error in (data.error, loud):
        scores = RampScores(given, np.array([True, False, True]))
        scores.settle(data.rows(slice(0, 1)))
        scores.take(replace(data, error=error))
        found.append(scores.ratios())
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_array_equal(found[0][0][:, [0, 2]], found[1][0][:, [0, 2]])


def test_at_rest_a_torque_error_is_its_change_since_rest_began() -> None:
    given = replace(law(0.01), mean=np.zeros((1 + KINDS * WIDTH, WIDTH)))
    count = 1400
    time = 0.01 * np.arange(count)
    still = np.zeros((count, WIDTH))
    error = still + [3.0, -5.0, 1.0] + 0.01 * time[:, None]
    data = ErrorSamples(time, still, still, still, error, time >= 1.0)
    scores, level = RampScores(given), np.zeros((count, WIDTH))
    scores.settle(data.rows(slice(0, 1)))
    for first, end in pairwise(pieces(time, data.rests)):
        scores.take(data.rows(slice(first, end)))
        level[first:end] = scores.scores[:, :, LEVEL]
    assert np.abs(level[time < 0.99] - error[time < 0.99]).max() < 1e-9
    late = np.abs(np.diff(level[(time > 1.0) & (time < 5.9)], axis=0)).max()
    assert late < 5e-4
    assert 0.04 < np.abs(level[time > 1.01]).max() < 0.06, 'a slow change is forgotten after 5 s'
