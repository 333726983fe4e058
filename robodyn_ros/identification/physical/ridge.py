"""Ridge regression towards a prior: least squares, drawn to the URDF, without constraints.

Minimise sum_j w_j^2 ||A_j K p - y_j||^2 + weight ||M (p - prior)||^2, with the distance to the
prior of `physical`, whose consistent estimate is the same among the robots that can exist.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.completion import Completion
from robodyn_ros.identification.physical.consistency import is_consistent
from robodyn_ros.identification.physical.selection import (
    ALIKE,
    DEFAULT_WEIGHT,
    WEIGHTS,
    Selection,
)
from robodyn_ros.identification.physical.semidefinite import (
    WEAKEST,
    Data,
    Problem,
    starting_prior,
    weighted_rows,
)
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel


def ridge_estimate(
    model: DynamicModel,
    base: BaseParameters,
    condensed: Condensed,
    fit: Estimate,
    completion: Completion,
    options: IdentifyOptions,
) -> tuple[Completion, Selection]:
    """Estimate drawn to the prior.

    :param condensed: factors as the estimator weighs them
    :param fit: the unconstrained estimate
    :param completion: its standard parameters
    """
    prior, known = starting_prior(model, options.prior)
    problem = Problem.of(model, base, prior)
    weight, error, plain = options.ridge or 0.0, float('nan'), float('nan')
    if not weight:
        weight, error, plain = _best_weight(problem, condensed, fit.sigma)
    data = Data.of(condensed.merged(), condensed.width, fit.sigma)
    values = draw(problem, data, weight)
    chosen = replace(
        completion, values=values, physically_consistent=is_consistent(model, values), findings=()
    )
    return chosen, Selection(
        estimate='ridge',
        prior='urdf' if known else 'none',
        prior_weight=weight,
        unseen_error=error,
        unseen_error_unconstrained=plain,
    )


def draw(problem: Problem, data: Data, weight: float) -> Array:
    """Parameters (p,) that minimise the sum at the head of this file.

    :param weight: of the squared distance to the prior, against the mean squared residual in
        units of its standard deviation
    """
    matrix = (data.triangle @ problem.grouping) * problem.scale
    target = data.triangle @ (data.values - problem.grouping @ problem.prior)
    metric = np.sqrt(weight) * problem.metric * problem.scale
    rows = np.vstack([matrix, metric])
    steps = np.linalg.lstsq(rows, np.concatenate([target, np.zeros(len(metric))]), rcond=1e-10)[0]
    values: Array = problem.prior + problem.scale * steps
    return values


def _best_weight(
    problem: Problem, condensed: Condensed, sigma: Array
) -> tuple[float, float, float]:
    """Strongest weight whose error on stretches left out in turn is as good as the best.

    :return: weight, its error, and that of the unconstrained estimate; NaN without stretches
    """
    count = len(condensed.segments)
    if count < 2:
        return DEFAULT_WEIGHT, float('nan'), float('nan')
    errors = np.zeros((len(WEIGHTS) + 1, count))
    for unseen in range(count):
        others = [k for k in range(count) if k != unseen]
        data = Data.of(condensed.merged(others), condensed.width, sigma)
        matrix, target = weighted_rows(condensed.segments[unseen], condensed.width, sigma)
        fits = [problem.grouping @ draw(problem, data, max(w, WEAKEST)) for w in WEIGHTS]
        for row, values in enumerate([*fits, data.values]):
            errors[row, unseen] = np.sum((matrix @ values - target) ** 2)
    *drawn, plain = np.sqrt(errors.mean(axis=1)).tolist()
    best = max(k for k, error in enumerate(drawn) if error <= ALIKE * min(drawn))
    return WEIGHTS[best], drawn[best], plain
