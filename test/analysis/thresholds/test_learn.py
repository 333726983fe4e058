# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.signal import lfilter

from robodyn_ros.analysis.thresholds.learn import Learned, Learning, learn
from robodyn_ros.analysis.thresholds.moments import blocks_of, chunks
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.ramp_law import LEVEL, ErrorSamples
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array

PERIOD = 0.01
FRICTION = np.array([0.3, 0.2])


@cache
def healthy(minutes: float, seed: int, pause: float = 0.0) -> Session:
    """Motion with a repeatable torque error and coloured noise that grows with speed.

    :param pause: share of the time, at its end, without motion
    """
    random, count = np.random.default_rng(seed), round(60.0 * minutes / PERIOD)
    time = 3.0 + PERIOD * np.arange(count)
    phase = random.uniform(0.0, 6.0, 2)
    course = np.sin([0.9, 1.3] * time[:, None] + phase) * np.sin([0.21, 0.17] * time[:, None])
    fade = np.clip(0.5 * ((1.0 - pause) * 60.0 * minutes - (time - 3.0)), 0.0, 1.0)[:, None]
    velocity = course * (fade**2 * (3.0 - 2.0 * fade) if pause else 1.0)
    acceleration = np.gradient(velocity, PERIOD, axis=0)
    position = np.cumsum(velocity, axis=0) * PERIOD
    noise = lfilter([1.0], [1.0, -0.8], random.normal(size=velocity.shape), axis=0)
    error = noise * (0.1 + np.abs(velocity)) + 2.0 * np.tanh(velocity / 0.02)
    samples = ErrorSamples(time, position, velocity, acceleration, error, np.zeros(count, bool))
    used, started = np.arange(count) >= 10, np.arange(count) == 0
    return Session(f'run {seed}', samples, used, used, started)


def ratios(found: Learned, session: Session) -> Array:
    result = np.zeros(len(session.time))
    for scores, rows in chunks(session, found.law):
        single, joint = scores.ratios()
        result[rows] = np.maximum(single.max(axis=1), joint)
    return result * session.used


@cache
def given(rate: float = 30.0) -> Learned:
    return learn([healthy(5.0, seed) for seed in range(4)], PERIOD, FRICTION, Learning(rate))


def alarms(found: Learned, seeds: range) -> tuple[int, float]:
    """Return blocks with false alarms of fresh motion, and its hours."""
    fresh = [healthy(10.0, seed) for seed in seeds]
    blocks = [blocks_of(each, found.law, 5.0) for each in fresh]
    count = sum(int((each.largest > 1.0).any(axis=1).sum()) for each in blocks)
    return count, sum(each.hours for each in blocks)


@pytest.mark.parametrize('rate', [30.0, 60.0])
def test_fresh_motion_has_the_wanted_rate_of_false_alarms(rate: float) -> None:
    found = given(rate)
    assert sum(found.hours) == pytest.approx(1.0 / 3.0, rel=0.02)
    count, hours = alarms(found, range(100, 118))
    # Learning had rate / 3 alarms: two standard deviations of the smaller one are 60 %.
    assert 0.5 * rate <= count / hours <= 1.4 * rate
    assert found.interval[0] <= count / hours <= found.interval[1]
    assert count / hours <= found.rate


def test_the_repeatable_part_of_the_torque_error_is_no_contact() -> None:
    fresh, found = healthy(5.0, 200), given()
    fast = np.abs(fresh.samples.velocity) > 0.1
    left = np.concatenate([scores.error[fast[rows][:, 0], 0] for scores, rows in
                           chunks(fresh, found.law)])  # fmt: skip
    assert np.sqrt(np.mean(left**2)) < 0.6 * np.sqrt(
        np.mean(fresh.samples.error[fast[:, 0], 0] ** 2)
    )


@pytest.mark.parametrize('step', ['mean', 'scales'])
def test_each_step_finds_smaller_ramps(step: str) -> None:
    """Each step makes the smallest force smaller that is found at slow motion."""
    sessions = [healthy(5.0, seed) for seed in range(4)]
    options = replace(Learning(30.0), **{step: False})
    found, without = given(), learn(sessions, PERIOD, FRICTION, options)
    fresh = healthy(5.0, 200)
    starts = np.arange(1000, 29_000, 700)
    slow = [k for k in starts if 0.05 < np.abs(fresh.samples.velocity[k, 0]) < 0.5]
    error = fresh.samples.error.copy()
    for k in slow:
        error[k : k + 40, 0] += 1.6 * np.minimum(np.arange(1, 41) / 5.0, 1.0)
    pushed = replace(fresh, samples=replace(fresh.samples, error=error))
    size = [
        np.mean([np.log(ratios(each, pushed)[k : k + 10].max()) for k in slow[:20]])
        for each in (found, without)
    ]
    assert size[0] > size[1] + 0.03, size


def test_whitening_is_the_prediction_of_the_noise() -> None:
    np.testing.assert_allclose(given().law.whitening[:, 0, 0], 0.8, atol=0.08)
    np.testing.assert_allclose(given().law.whitening[:, 0, 1:], 0.0, atol=0.08)


def test_stiction_is_allowed_for_at_standstill() -> None:
    found = learn([healthy(4.0, seed) for seed in (0, 1)], PERIOD, 50.0 * FRICTION, Learning(30.0))
    threshold = found.law.single * found.law.scale[:, found.law.bands.moving, LEVEL]
    assert (threshold >= 50.0 * FRICTION - 1e-9).all()


def touched(session: Session, first: int, size: float, length: int = 60) -> Session:
    error = session.samples.error.copy()
    error[first : first + length, 1] += size
    return replace(session, samples=replace(session.samples, error=error))


def test_contact_in_a_recording_is_left_out_and_reported() -> None:
    data = [healthy(5.0, seed) for seed in range(4)]
    again = learn([data[0], touched(data[1], 15_000, 60.0), *data[2:]], PERIOD, FRICTION,
                  Learning(30.0))  # fmt: skip
    assert len(again.notes) == 1 and 'run 1' in again.notes[0]
    assert 'left out as contact: the torque error at 153 to 158 s' in again.notes[0]
    for before, after in ((given().law.scale, again.law.scale),
                          (given().law.mean, again.law.mean)):  # fmt: skip
        np.testing.assert_allclose(before, after, rtol=0.35, atol=0.2)
    assert again.law.single == pytest.approx(given().law.single, rel=0.2)
    assert given().notes == ()


def test_a_session_of_other_work_is_no_contact() -> None:
    data = [healthy(5.0, seed) for seed in range(3)]
    other = healthy(5.0, 3)
    rough = replace(other, samples=replace(other.samples, error=12.0 * other.samples.error))
    found = learn([*data, rough], PERIOD, FRICTION, Learning(30.0))
    assert found.notes == ()
    fresh = healthy(5.0, 200)
    rough = replace(fresh, samples=replace(fresh.samples, error=12.0 * fresh.samples.error))
    assert (ratios(found, rough) > 1.0).mean() < 0.01


@pytest.mark.parametrize('known', [False, True], ids=['pause', 'rest of the reference'])
def test_a_contact_just_before_a_pause_pollutes_nothing(known: bool) -> None:
    data = [healthy(5.0, seed, pause=0.3) for seed in range(4)]
    rests = known & (np.arange(30_000) > 0.7 * 30_000 + 5)
    data = [replace(each, samples=replace(each.samples, rests=rests)) for each in data]
    clean = learn(data, PERIOD, FRICTION, Learning(30.0))
    end = int(0.7 * 30_000)
    again = learn([touched(data[0], end - 100, 60.0, 100), *data[1:]], PERIOD, FRICTION,
                  Learning(30.0))  # fmt: skip
    still = clean.law.bands.moving
    for law in (clean.law, again.law):
        assert (law.scale[:, still, LEVEL] * law.single < 3.0).all() or known
        assert (law.scale[:, -1, LEVEL] * law.single < 3.0).all()
    np.testing.assert_allclose(clean.law.scale[:, -1], again.law.scale[:, -1], rtol=0.2)


def test_a_pause_is_no_motion_that_proves_a_rate() -> None:
    paused = [healthy(5.0, seed, pause=0.5) for seed in range(4)]
    found = learn(paused, PERIOD, FRICTION, Learning(30.0))
    assert sum(found.hours) == pytest.approx(1.0 / 6.0, rel=0.05)
    assert 'cannot prove 5 false alarms per hour' in refusal(paused, 5.0)


def refusal(sessions: list[Session], rate: float) -> str:
    with pytest.raises(ControlError) as error:
        learn(sessions, PERIOD, FRICTION, Learning(rate))
    return str(error.value)


def test_a_rate_that_the_data_cannot_show_is_refused_and_the_usual_one_is_what_they_can() -> None:
    data = [healthy(5.0, seed) for seed in range(4)]
    text = refusal(data, 1.0)
    assert text == (
        '20 min of healthy motion cannot prove 1 false alarms per hour: record 40 min more, or '
        'ask for at least 4 per hour (--false-alarms 4)'
    )
    assert learn(data, PERIOD, FRICTION).wanted == 10.0
    short = learn([healthy(2.0, seed) for seed in (0, 1)], PERIOD, FRICTION)
    assert short.wanted == 16.0 and short.rate >= 16.0


def test_recordings_full_of_contact_or_too_short_are_refused() -> None:
    full = healthy(5.0, 1)
    for first in range(1000, 29_000, 2500):
        full = touched(full, first, 60.0)
    with pytest.raises(ControlError, match='% of the recordings look like contact'):
        learn([healthy(5.0, 0), full], PERIOD, FRICTION, Learning(30.0))
    with pytest.raises(ControlError, match=r'run 1: 59\.9 s of healthy motion, expected'):
        learn([healthy(1.0, 1)], PERIOD, FRICTION)


def test_contacts_that_only_show_when_larger_ones_are_left_out_count_together() -> None:
    sessions = [healthy(20.0, seed) for seed in range(2)]
    for place, size in enumerate((30000.0, 3000.0, 300.0, 60.0) * 2):
        sessions = [touched(each, 10000 + 13000 * place, size, 30) for each in sessions]
    with pytest.raises(ControlError, match='% of the recordings look like contact'):
        learn(sessions, PERIOD, FRICTION, Learning(30.0))


@pytest.mark.parametrize('count', [1, 2])
def test_few_sessions_are_cut_into_parts_and_thresholds_are_no_higher_for_it(count: int) -> None:
    """Laws of half the data had thresholds of which a fresh session reached a third."""
    sessions = [healthy(4.0 / count, seed) for seed in range(count)]
    found = learn(sessions, PERIOD, FRICTION, Learning(20.0))
    assert len(found.hours) == 12 and sum(found.hours) == pytest.approx(4.0 / 60.0, rel=0.02)
    low, high = found.interval
    assert low <= 20.0 <= high < 80.0
    fresh = np.concatenate([ratios(found, healthy(5.0, seed)) for seed in range(100, 106)])
    highest = np.sort(fresh.reshape(-1, 500).max(axis=1))[::-1]
    assert 0.85 < highest[round(20.0 * 0.5)] < 1.2


@pytest.mark.parametrize('rows', [1, 30])
def test_a_recording_that_ends_just_after_a_block_is_learned(rows: int) -> None:
    """A part of one sample has no period, and none of its samples counts."""
    session = healthy(5.0, 3)
    cut = session.rows(slice(0, 500 * 37 + rows))
    learned = learn([healthy(5.0, 1), cut], PERIOD, FRICTION, Learning(30.0))
    assert np.isfinite(learned.hours).all() and min(learned.hours) > 0.0
