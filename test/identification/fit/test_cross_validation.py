import numpy as np

from robodyn_ros.identification.fit.cross_validation import folds_of, unseen_errors


def test_folds_are_segments_of_time_of_equal_length():
    assert folds_of(10, 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert folds_of(8, 2, pieces=2).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert np.bincount(folds_of(103, 5)).min() == 20
    assert len(folds_of(0, 5)) == 0


def test_every_fold_is_tested_by_a_fit_that_has_not_seen_it():
    values = np.array([1.0, 2.0, 6.0])
    found = unseen_errors(
        3,
        lambda left_out: np.delete(values, left_out).mean(),
        lambda mean, k: (values[k] - mean) ** 2,
    )
    np.testing.assert_allclose(found, [9.0, 2.25, 20.25])
