# SPDX-License-Identifier: Apache-2.0
"""One search for a motion from a random start, by gradients or by evolution.

Every search depends only on its seed, so that the results do not depend on the number of cores.
A stop ends a search early. The best motion so far is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # its parts at their first use: they take half a second

from robodyn_ros.excitation.design.descent import StopError, descend
from robodyn_ros.excitation.design.problem import CLOSE, DesignProblem, Smoothing
from robodyn_ros.excitation.trajectory import Array

Stop = Callable[[], bool]
News = Callable[[float], object]
"""Receives the criterion of the present motion (`Criterion.value`) regularly."""


@dataclass(frozen=True)
class Round:
    """One part of a search: smoothing of the problem, see `Smoothing`, and duration.

    :param kept: share of the searches, the best ones, that continue in this round
    :param until: share of the time after which it ends
    """

    sharpness: float
    hardness: float
    penalty: float
    iterations: int
    kept: float
    until: float
    thorough: bool = False

    def stage(self, problem: DesignProblem) -> Smoothing:
        """Return the smoothing of this round."""
        samples = problem.design.samples if self.thorough else problem.coarse_samples()
        return Smoothing(samples, self.sharpness, self.hardness, self.penalty)


ROUNDS = (
    Round(8.0, 20.0, 10.0, 80, kept=1.0, until=0.5),
    Round(20.0, 60.0, 30.0, 100, kept=0.5, until=0.75),
    Round(40.0, 150.0, 100.0, 150, kept=0.4, until=0.88),
    Round(100.0, 300.0, CLOSE.penalty, 200, kept=0.4, until=0.95),
    Round(300.0, CLOSE.hardness, CLOSE.penalty, 100, kept=0.4, until=1.0, thorough=True),
)
"""Rounds of a search by gradients, with decreasing smoothing of criterion and limits."""


@dataclass(frozen=True)
class SearchResult:
    """Result of a search: variables x, and their criterion without smoothing.

    :param complete: False if the search was stopped
    """

    value: float
    x: Array
    complete: bool
    metric: Array | None = None


def begin(problem: DesignProblem, seed: int, start: int) -> SearchResult:
    """Make random start number `start` of this seed."""
    x = problem.family.start(np.random.default_rng([seed, start]))
    return SearchResult(np.inf, x, complete=True)


def improve(
    problem: DesignProblem, start: SearchResult, plan: Round, stop: Stop, news: News
) -> SearchResult:
    """Continue a search for one round."""
    stage = plan.stage(problem)

    def objective(x: Array) -> tuple[float, Array]:
        if stop():
            raise StopError
        return problem.objective(x, stage)

    result = descend(objective, start.x, plan.iterations, start.metric)
    value = problem.cost(result.x, problem.design.samples)
    news(value)
    return SearchResult(value, result.x, result.complete, result.metric)


def evolve(
    problem: DesignProblem,
    seed: int,
    start: int,
    stop: Stop,
    news: News,
    *,
    population: int = 150,
    generations: int = 120,
) -> SearchResult:
    """Search by differential evolution of random population number `start`.

    Population and generations are those of document "local_identification", section III.
    """
    random, samples = np.random.default_rng([seed, start]), problem.coarse_samples()

    def cost(x: Array) -> float:
        return np.inf if stop() else problem.cost(x, samples)

    def report(x: Array, convergence: float) -> bool:
        news(cost(x))
        return stop()

    people = np.array([problem.family.start(random) for _ in range(population)])
    result = scipy.optimize.differential_evolution(
        cost,
        # x scales a motion that fills its limits anyway: 5 times its spread is no restriction
        [(-5.0, 5.0)] * problem.family.size,
        init=np.clip(people, -5.0, 5.0),
        maxiter=generations,
        strategy='currenttobest1bin',
        mutation=(0.3, 0.6),
        recombination=0.95,
        tol=0.0,
        polish=False,
        seed=random,
        callback=report,
    )
    return SearchResult(float(result.fun), result.x, complete=not stop())
