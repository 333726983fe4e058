# SPDX-License-Identifier: Apache-2.0
"""Descent on functions that are piecewise smooth, such as condition numbers.

Source: Lewis and Overton, "Nonsmooth optimization via quasi-Newton methods", Mathematical
Programming 141 (2013), algorithms 2.1 and 2.6: BFGS with a bisecting line search for the weak
Wolfe conditions. Line searches for the strong ones, as SciPy has them, fail at kinks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robodyn_ros.excitation.trajectory import Array

Objective = Callable[[Array], tuple[float, Array]]

_DECREASE, _CURVATURE = 1e-4, 0.9
_PATIENCE, _WORTHWHILE = 20, 1e-6
"""A descent ends if this number of steps gains less than this value."""


class StopError(Exception):
    """Raised by an objective to end the descent."""


@dataclass(frozen=True)
class Point:
    """State of a descent: x (m,), value and slope (m,)."""

    x: Array
    value: float
    slope: Array


@dataclass(frozen=True)
class Descent:
    """Result of a descent.

    :param x: the best point, shape (m,)
    :param metric: approximate inverse of the Hessian (m, m), None if no step was made; a later
        descent on a similar function may start with it
    :param complete: False if the descent was stopped
    """

    x: Array
    metric: Array | None
    complete: bool


def descend(
    objective: Objective, x: Array, iterations: int, metric: Array | None = None
) -> Descent:
    """Minimise a function.

    :param objective: value and slope at x; it may raise `StopError`
    :param x: start, shape (m,)
    :param metric: of an earlier descent, shape (m, m)
    """
    here = Point(x, np.inf, np.zeros(len(x)))
    try:
        here = _at(objective, x)
        values = [here.value]
        for _ in range(iterations):
            there = None if metric is None else _step(objective, here, -metric @ here.slope)
            if there is None:  # restart: the known curvature is not useful here
                size = float(np.linalg.norm(here.slope))
                if size == 0.0:
                    break
                metric = None
                there = _step(objective, here, -(0.3 / size) * here.slope)  # of length 0.3
            if there is None:
                break
            metric = _update_metric(metric, there.x - here.x, there.slope - here.slope)
            here = there
            values.append(here.value)
            if len(values) > _PATIENCE and values[-_PATIENCE] - values[-1] < _WORTHWHILE:
                break
    except StopError:
        return Descent(here.x, metric, complete=False)
    return Descent(here.x, metric, complete=True)


def _at(objective: Objective, x: Array) -> Point:
    return Point(x, *objective(x))


def _step(objective: Objective, here: Point, way: Array) -> Point | None:
    """Find a point along the direction with the weak Wolfe conditions; None: there is none."""
    slope = float(here.slope @ way)
    if not slope < 0.0:
        return None
    low, high, length = 0.0, np.inf, 1.0
    lower: Point | None = None
    for _ in range(15):
        there = _at(objective, here.x + length * way)
        if there.value > here.value + _DECREASE * length * slope:
            high = length
        elif there.slope @ way < _CURVATURE * slope:
            low, lower = length, there
        else:
            return there
        length = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return lower


def _update_metric(metric: Array | None, step: Array, change: Array) -> Array | None:
    """Update the inverse Hessian by BFGS; leave it if the curvature is not positive."""
    along = float(step @ change)
    if not along > 0.0:
        return metric
    if metric is None:
        metric = along / float(change @ change) * np.eye(len(step))
    turned = metric @ change
    both = np.outer(turned, step)
    grown = (1.0 + float(change @ turned) / along) * np.outer(step, step)
    result: Array = metric + (grown - both - both.T) / along
    return result
