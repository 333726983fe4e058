# SPDX-License-Identifier: Apache-2.0
import numpy as np

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
