# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robodyn_ros.analysis.thresholds.learn import Learned, Learning, learn
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array

PERIOD = 0.01
FRICTION = np.array([0.3, 0.2])


def noise(minutes: float, seed: int) -> Session:
    """Healthy motion with torque errors that grow with speed: at full speed by a factor of 10."""
    random, count = np.random.default_rng(seed), round(60.0 * minutes / PERIOD)
    time = 3.0 + PERIOD * np.arange(count)
    phase = random.uniform(0.0, 6.0, 2)
    velocity = np.sin([0.9, 1.3] * time[:, None] + phase) * np.sin([0.21, 0.17] * time[:, None])
    acceleration = np.abs(np.gradient(velocity, PERIOD, axis=0))
    residual = np.abs(random.normal(size=velocity.shape)) * (0.1 + np.abs(velocity))
    used = np.arange(count) >= 10
    return Session(f'run {seed}', time, residual, velocity, acceleration, used,
                   np.arange(count) == 0)  # fmt: skip


def alarms(found: Learned, session: Session, sensitivity: float = 1.0) -> Array:
    """Rows at which the detector would raise an alarm: two consecutive samples of a joint."""
    threshold = found.map.at(*session.motion(found.map.bands.still)) / sensitivity
    over = (session.residual > threshold) & session.used[:, None]
    return np.flatnonzero((over[1:] & over[:-1]).any(axis=1)) + 1


@pytest.fixture(scope='module')
def found() -> Learned:
    return learn([noise(5.0, seed) for seed in range(4)], FRICTION)


def test_fresh_noise_raises_no_more_false_alarms_than_promised(found: Learned) -> None:
    fresh = [noise(30.0, seed) for seed in range(100, 106)]
    hours = sum(each.hours for each in fresh)
    assert found.hours == pytest.approx(1.0 / 3.0, rel=0.01)
    assert found.alarms == 0 and found.rate == pytest.approx(9.0, rel=0.01)
    assert sum(len(alarms(found, each)) for each in fresh) / hours <= found.rate
    # The promise is not kept by thresholds that are far too high.
    assert sum(len(alarms(found, each, 2.0)) for each in fresh) / hours > 10.0 * found.rate


def test_a_contact_at_low_speed_is_found_that_constants_miss(found: Learned) -> None:
    data = [noise(5.0, seed) for seed in range(4)]
    constant = learn(data, FRICTION, Learning(layouts=[(1, 1, 1)]))
    assert constant.layout == (1, 1, 1) != found.layout
    fresh = noise(5.0, 200)
    slow = (np.abs(fresh.velocity) > 0.1) & (np.abs(fresh.velocity) < 0.25)
    row = int(np.flatnonzero((slow[1:] & slow[:-1])[1000:, 0])[0]) + 1000
    touched = fresh.residual.copy()
    touched[row : row + 2, 0] += 1.8
    fresh = replace(fresh, residual=touched)
    assert row + 1 in alarms(found, fresh)
    assert row + 1 not in alarms(constant, fresh)


def test_a_wanted_rate_is_met_and_the_bound_counts_its_alarms() -> None:
    data = [noise(5.0, seed) for seed in range(4)]
    found = learn(data, FRICTION, Learning(rate=60.0))
    fresh = [noise(30.0, seed) for seed in range(300, 304)]
    blocks = sum(len(np.unique(fresh[k].time[alarms(found, each)] // 5.0))
                 for k, each in enumerate(fresh))  # fmt: skip
    hours = sum(each.hours for each in fresh)
    assert 10.0 < blocks / hours < found.rate and found.alarms > 5


def test_stiction_is_allowed_for_at_standstill(found: Learned) -> None:
    assert (found.map.collision[:, -2:] >= FRICTION[:, None]).all()
    high = learn([noise(3.0, seed) for seed in range(2)], 50.0 * FRICTION)
    np.testing.assert_array_equal(high.map.collision[:, -2:].T, [50.0 * FRICTION] * 2)


def test_contact_in_a_recording_is_left_out_and_reported(found: Learned) -> None:
    data = [noise(5.0, seed) for seed in range(4)]
    touched = data[1].residual.copy()
    touched[15000:15020, 1] += 60.0
    again = learn([data[0], replace(data[1], residual=touched), *data[2:]], FRICTION)
    assert len(again.notes) == 1 and 'run 1' in again.notes[0]
    assert 'left out as contact: the torque error at 153' in again.notes[0]
    np.testing.assert_allclose(again.map.collision.max(), found.map.collision.max(), rtol=0.3)
    assert found.notes == ()


def test_recordings_full_of_contact_or_too_short_are_refused() -> None:
    touched = noise(5.0, 1)
    residual = touched.residual.copy()
    residual[::2500] += 60.0
    residual[1::2500] += 60.0
    with pytest.raises(ControlError, match='% of the recordings look like contact'):
        learn([noise(5.0, 0), replace(touched, residual=residual)], FRICTION)
    with pytest.raises(ControlError, match=r'run 1: 59\.9 s of healthy motion, expected'):
        learn([noise(1.0, 1)], FRICTION)


def test_a_single_session_is_cut_into_parts() -> None:
    assert learn([noise(4.0, 1)], FRICTION).hours == pytest.approx(4.0 / 60.0, rel=0.01)


def resting(minutes: float, seed: int) -> Session:
    """The same motion, at rest for 5 of 10 s, where the torque error changes by noise only."""
    session, random = noise(minutes, seed), np.random.default_rng([7, seed])
    rests = session.time % 10.0 < 5.0
    change = 0.02 * np.abs(random.normal(size=session.residual.shape))
    return replace(session, change=np.where(rests[:, None], change, np.nan).astype(np.float32))


def test_the_change_at_rest_has_a_threshold_of_its_own(found: Learned) -> None:
    assert found.map.change is None
    learned = learn([resting(5.0, seed) for seed in range(4)], FRICTION)
    change = learned.map.change
    assert change is not None and (change > 0.06).all() and (change < 0.2).all()
    fresh = [resting(30.0, seed) for seed in range(100, 104)]
    over = [np.nan_to_num(each.change) > change for each in fresh]  # type: ignore[arg-type]
    count = sum((each[1:] & each[:-1]).any(axis=1).sum() for each in over)
    assert count <= learned.rate * sum(each.hours for each in fresh)
    # Its share of the wanted rate raises the others a little.
    ratio = learned.map.collision / found.map.collision
    assert (ratio >= 1.0 - 1e-9).all() and (ratio < 1.5).all()


def where(session: Session, rests: Array) -> Session:
    """A session whose reference rests only at some samples."""
    assert session.change is not None
    return replace(session, change=np.where(rests[:, None], session.change, np.nan))


@pytest.mark.parametrize('given', [
    [resting(5.0, 0), noise(5.0, 1), noise(5.0, 2)],
    [where(resting(5.0, seed), np.arange(30_000) < 4_000) for seed in (0, 1)],
])  # fmt: skip
def test_rest_that_others_do_not_know_makes_no_threshold_too_low(given: list[Session]) -> None:
    healthy = np.nanmax([np.nanmax(each.change, axis=0) for each in given
                         if each.change is not None], axis=0)  # fmt: skip
    change = learn(given, FRICTION).map.change
    assert change is not None
    assert (change > 0.75 * healthy).all() and (change < 4.0 * healthy).all()
