"""One search for a motion from a random start, by gradients or by a genetic algorithm.

Every search depends only on its seed, so that the results do not depend on the number of cores.
A stop ends a search early; its result so far is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robodyn_ros.excitation.design.descent import StopError, descend
from robodyn_ros.excitation.design.problem import CLOSE, Problem, Stage
from robodyn_ros.excitation.trajectory import Array

Stop = Callable[[], bool]
News = Callable[[float], None]
"""Receives the criterion of the present motion (`Criterion.value`) regularly."""


@dataclass(frozen=True)
class Round:
    """One part of a search: smoothing of the problem, see `Stage`, and duration.

    :param kept: share of the searches, the best ones, that continue in this round
    :param until: share of the time after which it ends
    :param thorough: use all samples
    """

    sharpness: float
    hardness: float
    penalty: float
    iterations: int
    kept: float
    until: float
    thorough: bool = False

    def stage(self, problem: Problem) -> Stage:
        """Return the smoothing of this round."""
        samples = problem.design.samples if self.thorough else problem.coarse_samples()
        return Stage(samples, self.sharpness, self.hardness, self.penalty)


ROUNDS = (
    Round(8.0, 20.0, 10.0, 80, kept=1.0, until=0.5),
    Round(20.0, 60.0, 30.0, 100, kept=0.5, until=0.75),
    Round(40.0, 150.0, 100.0, 150, kept=0.4, until=0.88),
    Round(100.0, 300.0, CLOSE.penalty, 200, kept=0.4, until=0.95),
    Round(300.0, CLOSE.hardness, CLOSE.penalty, 100, kept=0.4, until=1.0, thorough=True),
)
"""Rounds of a search by gradients, with decreasing smoothing of criterion and limits."""


@dataclass(frozen=True)
class Found:
    """Result of a search: variables x, and their criterion without smoothing.

    :param complete: False if the search was stopped
    :param metric: approximate curvature there, see `Descent`
    """

    value: float
    x: Array
    complete: bool
    metric: Array | None = None


@dataclass(frozen=True)
class Genetic:
    """Settings of the genetic algorithm.

    Document "local_identification", section III: selection with elitism, recombination and
    mutation. The document specifies only 150 individuals and 120 generations.
    """

    population: int = 150
    generations: int = 120
    elite: int = 6
    rivals: int = 3
    mutation: float = 0.3


def begin(problem: Problem, seed: int, start: int) -> Found:
    """Make random start number `start` of this seed."""
    x = problem.family.start(np.random.default_rng([seed, start]))
    return Found(np.inf, x, complete=True)


def improve(problem: Problem, found: Found, plan: Round, stop: Stop, news: News) -> Found:
    """Continue a search for one round."""
    stage = plan.stage(problem)

    def objective(x: Array) -> tuple[float, Array]:
        if stop():
            raise StopError
        return problem.objective(x, stage)

    result = descend(objective, found.x, plan.iterations, found.metric)
    value = problem.cost(result.x, problem.design.samples)
    news(value)
    return Found(value, result.x, result.complete, result.metric)


def evolve(
    problem: Problem, seed: int, start: int, stop: Stop, news: News, genetic: Genetic | None = None
) -> Found:
    """Search by a genetic algorithm, from the random population number `start`."""
    options = genetic or Genetic()
    random, coarse = np.random.default_rng([seed, start]), problem.coarse_samples()
    people = np.array([problem.family.start(random) for _ in range(options.population)])
    fitness = np.full(len(people), np.inf)
    spread = people.std(axis=0)
    fitness[0] = problem.cost(people[0], coarse)
    for generation in range(options.generations + 1):
        for index in np.flatnonzero(np.isinf(fitness)):
            if stop():
                return _fittest(people, fitness, complete=False)
            fitness[index] = problem.cost(people[index], coarse)
        news(float(fitness.min()))
        if generation < options.generations:
            size = options.mutation * (1.0 - generation / options.generations)
            people, fitness = _breed(people, fitness, random, options, size * spread)
    return _fittest(people, fitness, complete=True)


def _breed(
    people: Array, fitness: Array, random: np.random.Generator, options: Genetic, size: Array
) -> tuple[Array, Array]:
    """Make the next generation: the unchanged elite, and children of tournament winners."""
    order = np.argsort(fitness)
    count = len(people) - options.elite
    rivals = random.integers(len(people), size=(2, count, options.rivals))
    winners = np.take_along_axis(rivals, fitness[rivals].argmin(axis=2)[:, :, None], axis=2)
    mother, father = people[winners[:, :, 0]]
    # blend: between the parents and a little beyond
    children = mother + random.uniform(-0.25, 1.25, mother.shape) * (father - mother)
    mutant = random.uniform(size=children.shape) < 2.0 / children.shape[1]
    children = children + mutant * random.normal(size=children.shape) * size
    kept = order[: options.elite]
    return (
        np.concatenate([people[kept], children]),
        np.concatenate([fitness[kept], np.full(count, np.inf)]),
    )


def _fittest(people: Array, fitness: Array, *, complete: bool) -> Found:
    best = int(np.argmin(fitness))
    return Found(float(fitness[best]), people[best], complete)
