"""One search for a motion, from one random start: by gradients, or by a genetic algorithm.

Every search depends on its seed alone, so that any number of them on any number of cores find
the same. A stop ends a search early; what it has found by then is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from robodyn_ros.excitation.problem import CLOSE, Problem, Stage
from robodyn_ros.excitation.trajectory import Array

Stop = Callable[[], bool]
News = Callable[[float], None]
"""Told the criterion of the present motion, as `Criterion.value`, now and then."""

_EXPLORING = ((4.0, 8.0, 1.0, 100), (8.0, 20.0, 10.0, 100))
"""(sharpness, hardness, penalty, iterations) on a few samples: which starts are worth more."""
_REFINING = (
    (15.0, 60.0, 30.0, 300),
    (30.0, 150.0, 100.0, 300),
    (80.0, 300.0, CLOSE.penalty, 300),
)
_FINISHING = ((200.0, CLOSE.hardness, CLOSE.penalty, 200),)
"""On all samples."""
_MEMORY = 50


@dataclass(frozen=True)
class Found:
    """What a search found: figures x, and their criterion without smoothing.

    `complete` tells that nothing stopped it.
    """

    value: float
    x: Array
    complete: bool


@dataclass(frozen=True)
class Genetic:
    """Figures of the genetic algorithm.

    Document "local_identification", section III: selection with elitism, recombination and
    mutation; it gives no more than 150 individuals and 120 generations.
    """

    population: int = 150
    generations: int = 120
    elite: int = 6
    rivals: int = 3
    mutation: float = 0.3


def explore(problem: Problem, seed: int, start: int, stop: Stop, news: News) -> Found:
    """Search roughly from the random start number `start` of this seed."""
    x = problem.family.start(np.random.default_rng([seed, start]))
    coarse = problem.coarse_samples()
    return _descend(problem, x, [_stage(coarse, row) for row in _EXPLORING], stop, news)


def refine(problem: Problem, x: Array, stop: Stop, news: News) -> Found:
    """Search on from x, ever closer to the criterion and the limits as they are."""
    coarse, full = problem.coarse_samples(), problem.design.samples
    stages = [_stage(coarse, row) for row in _REFINING]
    stages += [_stage(full, row) for row in _FINISHING]
    return _descend(problem, x, stages, stop, news)


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
    """Next generation: the elite as it is, and children of the winners of tournaments."""
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


def _stage(samples: int, row: tuple[float, float, float, int]) -> tuple[Stage, int]:
    sharpness, hardness, penalty, iterations = row
    return Stage(samples, sharpness, hardness, penalty), iterations


def _descend(
    problem: Problem, x: Array, stages: list[tuple[Stage, int]], stop: Stop, news: News
) -> Found:
    """Minimise stage by stage with a quasi-Newton method; the best x by the criterion itself."""
    best = Found(problem.cost(x, problem.design.samples), x, True)
    for stage, iterations in stages:
        x, complete = _minimise(problem, x, stage, iterations, stop)
        value = problem.cost(x, problem.design.samples)
        if value < best.value:
            best = Found(value, x, True)
        news(best.value)
        if not complete:
            return Found(best.value, best.x, False)
    return best


class _StopError(Exception):
    """Somebody wants the search to end."""


def _minimise(
    problem: Problem, x: Array, stage: Stage, iterations: int, stop: Stop
) -> tuple[Array, bool]:
    """Return the best x of one stage, and whether nothing stopped it."""
    best = (np.inf, x)

    def objective(x: Array) -> tuple[float, Array]:
        nonlocal best
        if stop():
            raise _StopError
        value, slope = problem.objective(x, stage)
        if value < best[0]:
            best = (value, x.copy())
        return value, slope

    options = {'maxiter': iterations, 'maxcor': _MEMORY, 'maxfun': 2 * iterations}
    try:
        minimize(objective, x, jac=True, method='L-BFGS-B', options=options)
    except _StopError:
        return best[1], False
    return best[1], True
