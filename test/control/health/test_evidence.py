# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.control.health.evidence import Evidence
from robodyn_ros.control.health.hypotheses import Hypothesis

RANDOM = np.random.default_rng(0)
Q, QD, QDD, LACKING = RANDOM.normal(size=(4, 50, 2))
NOISE = np.abs(RANDOM.normal(size=(50, 2))) + 0.5
TWO = [
    Hypothesis('first', 2, lambda q, qd, qdd: np.stack([q, qd], axis=2)),
    Hypothesis('second', 1, lambda q, qd, qdd: qdd[:, :, None]),
]


def evidence(samples, *, blocks=4, start=None):
    found = start or Evidence(TWO, 2, blocks=blocks, block_samples=10)
    rows = slice(*samples)
    found.add(Q[rows], QD[rows], QDD[rows], LACKING[rows], NOISE[rows])
    return found


def grams(samples, lacking=LACKING):
    """Normal equations per joint from their definition."""
    rows = np.stack([Q, QD, QDD, lacking], axis=2)[slice(*samples)]
    rows = rows / NOISE[slice(*samples), :, None]
    return np.einsum('tni,tnj->nij', rows, rows)


def test_the_last_blocks_count_and_the_oldest_is_forgotten():
    found = evidence((0, 35))
    np.testing.assert_allclose(found.per_joint(), grams((0, 35)))
    assert found.full and found.samples.tolist() == [10, 10, 10, 5]
    evidence((35, 48), start=found)
    np.testing.assert_allclose(found.per_joint(), grams((10, 48)))
    assert found.samples.sum() == 38
    assert not evidence((0, 29)).full and not evidence((0, 30)).full


def test_after_clearing_it_is_as_new():
    found = evidence((0, 47))
    found.clear()
    assert not found.per_joint().any()
    evidence((0, 35), start=found)
    fresh = evidence((0, 35))
    for one, other in zip(found.folds(), fresh.folds(), strict=True):
        np.testing.assert_array_equal(np.concatenate(one), np.concatenate(other))


def test_folds_are_blocks_of_time_and_of_places():
    found = evidence((0, 48))
    (times, places), (counts, other) = found.folds()
    in_order = [grams(rows).sum(axis=0) for rows in ((10, 20), (20, 30), (30, 40), (40, 48))]
    labels = len(times)
    assert labels == 4 and counts.tolist() == [10, 10, 10, 8]
    np.testing.assert_allclose(times, in_order)
    np.testing.assert_allclose(places.sum(axis=0), times.sum(axis=0))
    assert other.sum() == 38


def test_torque_of_values_is_relative_to_the_noise():
    found, values = evidence((0, 40)), np.array([0.3, -0.2])
    np.testing.assert_allclose(
        found.torque(found.places[0], values),
        np.sqrt(np.mean(((0.3 * Q - 0.2 * QD) / NOISE)[:40] ** 2, axis=0)),
    )
    assert found.torque(found.places[1], np.zeros(1)) == pytest.approx([0.0, 0.0])
