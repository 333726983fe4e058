# SPDX-License-Identifier: Apache-2.0
"""Folds: every sample once in each kind, errors those of fits that have not seen them."""

import numpy as np
import pytest
from scipy import signal

from robodyn_ros.identification.fit.folds import (
    BLOCKS,
    REGIONS,
    Folds,
    correlation_length,
    labels_of,
    least_squares,
)


def swings(samples=600, joints=2):
    time = np.arange(samples) / 50.0
    return np.column_stack([np.sin((1.0 + 0.27 * joint) * time) for joint in range(joints)])


def test_blocks_follow_time_and_regions_follow_the_workspace():
    position = swings()
    blocks, regions = labels_of(position)
    assert (np.diff(blocks) >= 0).all() and set(blocks) == set(range(BLOCKS))
    assert set(regions) == set(range(REGIONS))
    # Regions are visited again and again, and are compact.
    assert np.count_nonzero(np.diff(regions)) > REGIONS
    spread = [position[regions == k].std(axis=0).max() for k in range(REGIONS)]
    assert max(spread) < 0.6 * position.std(axis=0).max()


def linear_rows(noise=0.1, seed=0):
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(600, 3))
    torque = matrix @ [1.0, -2.0, 0.5] + noise * random.normal(size=600)
    return np.column_stack([matrix, torque])


def test_errors_are_those_of_fits_without_the_fold():
    rows, position = linear_rows(), swings()
    used = np.ones((600, 1), dtype=bool)
    folds = Folds.of([rows], [np.arange(3)], 3, labels_of(position), used, np.array([0.5]))
    (found,) = folds.held_out(lambda gram: least_squares(gram)[None])
    for kind, labels in enumerate(labels_of(position)):
        assert found.samples[kind].sum() == 600
        for fold in range(labels.max() + 1):
            kept = labels != fold
            values = np.linalg.lstsq(rows[kept, :3], rows[kept, 3], rcond=None)[0]
            left = rows[~kept, :3] @ values - rows[~kept, 3]
            assert found.kinds[kind][fold] == pytest.approx(np.sum(left**2) / 600, rel=1e-6)
    assert found.mean == pytest.approx(0.01, rel=0.2)
    assert folds.count == (BLOCKS, REGIONS) and found.independent == folds.independent


def slow_rows():
    """Noise that is the same for 20 samples."""
    rows = linear_rows(noise=0.0)
    rows[:, 3] += 0.1 * np.repeat(np.random.default_rng(1).normal(size=30), 20)
    return rows


def test_independent_samples_are_counted():
    """White noise: all of them; noise that is the same for 20 samples: about a 20th."""
    used, rows = np.ones((600, 1), dtype=bool), slow_rows()
    white = Folds.of([linear_rows()], [np.arange(3)], 3, labels_of(swings()), used, np.ones(1))
    assert white.independent == pytest.approx(200.0, rel=0.3)
    slow = Folds.of([rows], [np.arange(3)], 3, labels_of(swings()), used, np.ones(1))
    assert slow.independent == pytest.approx(10.0, rel=0.5)


def test_columns_that_no_row_shows_are_no_unknowns():
    """A joint at rest adds columns, and samples of the others determine none of them."""
    labels, used = labels_of(swings()), np.ones((600, 1), dtype=bool)
    alone = Folds.of([slow_rows()], [np.arange(3)], 3, labels, used, np.ones(1))
    rows = np.insert(slow_rows(), 3, 0.0, axis=1)
    rows = np.insert(rows, 4, rows[:, 0] + rows[:, 1], axis=1)  # nor is a combination of others
    resting = [rows, np.zeros((600, 3))]
    used = np.column_stack([used, np.zeros((600, 1), dtype=bool)])
    found = Folds.of(resting, [np.arange(5), np.arange(5, 7)], 7, labels, used, np.ones(2))
    assert found.independent == pytest.approx(alone.independent, rel=1e-6)


def test_rows_without_torque_cannot_be_divided():
    rows, used = np.zeros((50, 3)), np.ones((50, 1), dtype=bool)
    assert Folds.of([rows], [np.arange(2)], 2, labels_of(swings(50)), used, np.ones(1)) is None


@pytest.mark.parametrize('pole', [0.5, 0.9])
def test_first_order_noise_has_the_length_known_in_closed_form(pole):
    noise = np.random.default_rng(1).normal(size=100000)
    coloured = signal.lfilter([1.0], [1.0, -pole], noise)[:, None]
    length = correlation_length(coloured, np.ones_like(coloured, dtype=bool))
    np.testing.assert_allclose(length, (1 + pole) / (1 - pole), rtol=0.15)
