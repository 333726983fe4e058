# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.threshold_map import Bands, MappedThresholds, ThresholdMap

BANDS = Bands(
    still=np.array([0.1, 0.2]),
    speed=np.array([[0.5, 1.0], [0.6, 2.0]]),
    acceleration=np.array([[3.0], [4.0]]),
    reversal=np.array([[0.3], [0.2]]),
    rest=0.04,
)
MAP = ThresholdMap(
    bands=BANDS,
    collision=np.random.default_rng(1).uniform(1.0, 9.0, (2, 14)),
    contact=0.7,
    fastest=np.array([3.0, 4.0]),
    hardest=np.array([9.0, 8.0]),
)


def by_hand(joint: int, speed: float, acceleration: float, since: float, slow: float) -> float:
    """Threshold of one joint, written as a table is read."""
    if speed < BANDS.still[joint]:
        return float(MAP.collision[joint, 13 if slow >= 0.04 else 12])
    place = [
        sum(bool(value >= edge) for edge in edges[joint])
        for value, edges in (
            (speed, BANDS.speed), (acceleration, BANDS.acceleration), (since, BANDS.reversal),
        )
    ]  # fmt: skip
    beyond = max(1.0, speed / MAP.fastest[joint], acceleration / MAP.hardest[joint])
    table = MAP.collision[joint, :12].reshape(3, 2, 2)
    return float(table[tuple(place)]) * min(beyond, 10.0)


def test_a_threshold_is_the_value_of_its_cell_and_grows_beyond_what_was_learned() -> None:
    random = np.random.default_rng(2)
    motion = random.uniform(0.0, [[[5.0]], [[12.0]], [[0.6]], [[0.08]]], (4, 300, 2))
    motion[0, ::3] *= 0.05
    found = MAP.at(*motion)
    expected = [[by_hand(j, *motion[:, k, j]) for j in range(2)] for k in range(300)]
    np.testing.assert_allclose(found, expected)
    assert (motion[0] > MAP.fastest).any() and (motion[0] < BANDS.still).any()


def test_sample_by_sample_it_is_as_in_learning() -> None:
    random, time = np.random.default_rng(3), 5.0 + 0.01 * np.arange(400)
    velocity = np.cumsum(random.normal(size=(400, 2)), axis=0) * 0.1
    velocity[100:110] *= 0.01
    acceleration = np.abs(random.normal(size=(400, 2))) * 4.0
    started = np.isin(np.arange(400), (0, 200))
    session = Session('', time, np.ones_like(velocity), velocity, acceleration, ~started, started)
    expected = MAP.at(*session.motion(BANDS.still))
    thresholds = MappedThresholds(MAP)
    np.testing.assert_array_equal(thresholds.collision, MAP.collision[:, -2])
    for row, stamp in enumerate(time.tolist()):
        if started[row]:
            thresholds.restart(stamp)
        thresholds.update(stamp, velocity[row], acceleration[row])
        np.testing.assert_allclose(thresholds.collision, expected[row], rtol=1e-12)
        np.testing.assert_allclose(thresholds.contact, 0.7 * expected[row], rtol=1e-12)
    assert len(np.unique(expected)) > 20 and np.isin(MAP.collision[:, -1], expected).all()


def test_a_joint_that_never_moved_in_learning_has_a_threshold_in_motion() -> None:
    given = replace(MAP, fastest=np.full(2, 1e-38), hardest=np.full(2, 1e-38))
    thresholds = MappedThresholds(given)
    thresholds.update(1.0, np.full(2, 0.5), np.full(2, 0.5))
    assert (thresholds.collision <= 10.0 * MAP.collision.max()).all()
    assert (given.at(*np.full((4, 1, 2), 0.5)) <= 10.0 * MAP.collision.max()).all()
