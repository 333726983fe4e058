"""Cross-validation: errors on segments of a recording, by fits that have not seen them.

More parameters alone do not make these errors smaller, so that models can be compared by them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array

Fit = TypeVar('Fit')


def folds_of(samples: int, folds: int, pieces: int = 1) -> NDArray[np.intp]:
    """Return the fold of each sample, shape (N,): segments of time of equal length in turn.

    :param pieces: segments of a fold, spread over the recording
    """
    return np.arange(samples) * (folds * pieces) // max(samples, 1) % folds


def unseen_errors(
    folds: int, fit: Callable[[int], Fit], error: Callable[[Fit, int], Array | float]
) -> Array:
    """Return the errors on every fold, with the folds along the first axis.

    :param fit: called with the number of the fold that is left out of the fit
    :param error: called with that fit and the fold: squared errors
    """
    return np.array([error(fit(left_out), left_out) for left_out in range(folds)], dtype=float)
