"""Search for the shift in time between two signals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from robodyn_ros.models.interface import Array


def best_shift(coarse: Array, first: int, residual: Callable[[float], float]) -> float | None:
    """Return the shift with the smallest squared residual, in samples; None: it is out of range.

    :param coarse: squared residual at whole shifts
    :param first: the first of these shifts
    :param residual: squared residual at any shift within one of a whole one
    """
    best = int(np.argmin(coarse))
    if best in (0, len(coarse) - 1):
        return None
    middle = float(first + best)
    around = (middle - 1.0, middle + 1.0)
    return float(minimize_scalar(residual, bounds=around, method='bounded').x)
