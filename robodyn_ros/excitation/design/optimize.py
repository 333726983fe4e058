# SPDX-License-Identifier: Apache-2.0
"""Search for the best motion for an identification within all limits.

Many random starts are searched coarsely, and the most promising ones with increasing accuracy. The
number of starts follows from the time budget and the design by a fixed rate, so that a seed gives
the same motion on any machine and any number of cores, if the time is sufficient.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.candidate import Candidate
from robodyn_ros.excitation.design.problem import Design, DesignProblem
from robodyn_ros.excitation.design.search import ROUNDS, SearchResult, begin
from robodyn_ros.excitation.design.workers import SearchTask, Team
from robodyn_ros.excitation.limits.bounds import compute_shares
from robodyn_ros.excitation.trajectory import Array, Trajectory

Method = Literal['gradient', 'genetic']
METHODS: tuple[str, ...] = get_args(Method)

STARTS_PER_MINUTE = {'gradient': 40.0, 'genetic': 2.0}
"""Random starts that one core completes in a minute, with a reserve, for an arm of six axes."""
_JUDGED = 4
"""Number of best motions that are finished and evaluated within every limit."""

Progress = Callable[[float, float], None]
"""Receives the completed share of the work, and the best criterion so far."""
Cancel = Callable[[], bool]


@dataclass(frozen=True)
class Optimised:
    """The best motion within every limit.

    :param shares: of each joint's limits used, by quantity, shape (n,)
    :param complete: True if the search was not ended early (time, cancel): the same seed then
        gives the same motion anywhere
    :param note: effect of limits other than joint limits on the motion, or ''
    """

    trajectory: Trajectory
    value: float
    figures: dict[str, float]
    shares: dict[str, Array]
    seconds: float
    starts: int
    complete: bool
    note: str = ''


def optimise(
    design: Design,
    *,
    seconds: float = 60.0,
    seed: int = 0,
    method: Method = 'gradient',
    starts: int = 0,
    processes: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Optimised:
    """Search the best motion.

    :param seconds: time budget, which is kept and determines the number of starts
    :param starts: random starts, 0: by the time budget
    :param processes: number of processes; None: one per core; 0: search in this process
    :param cancel: asked regularly whether to end; the result is then the best motion so far
    :raises MotionError: no such motion is possible; the message names the limit
    """
    began = time.monotonic()
    if not seconds > 0.0 or method not in METHODS:
        raise MotionError(f'expected seconds above 0, one of {METHODS}, got {seconds}, {method}')
    problem = DesignProblem(design)
    count = starts or starts_within(problem, seconds, method)
    work = _Work(seconds, began, _finishing(problem, seed, seconds), progress, cancel)
    cores = os.cpu_count() or 1
    team = Team(problem.design, problem, cores if processes is None else processes)
    with closing(team):
        results = _search(team, work, method, seed, count)
    best = _best(problem, results, work)
    return Optimised(
        trajectory=best.trajectory,
        value=best.value,
        figures=problem.criterion.figures(*problem.states(best.trajectory)),
        shares=compute_shares(best.trajectory, design.limits),
        seconds=time.monotonic() - began,
        starts=count,
        complete=all(item.complete for item in results),
        note=best.note,
    )


def starts_within(problem: DesignProblem, seconds: float, method: Method = 'gradient') -> int:
    """Return the random starts for a time budget, by a rate that is the same on any machine."""
    rate = STARTS_PER_MINUTE[method] / problem.effort()
    return int(np.clip(round(seconds / 60.0 * rate), 2, 2000))


class _Work:
    """Deadlines and progress of all searches."""

    def __init__(
        self,
        seconds: float,
        began: float,
        reserve: float,
        progress: Progress | None,
        cancel: Cancel | None,
    ) -> None:
        self._seconds, self._began = seconds, began
        self._progress, self._cancel = progress, cancel
        self._reserve = min(reserve, 0.5 * seconds)
        self._best, self._cancelled = float('inf'), False
        self._searching = time.monotonic()

    def until(self, share: float) -> float:
        """Return the end, by `time.monotonic`, of a share of the search time."""
        end = self._began + self._seconds - self._reserve
        return self._searching + share * max(0.0, end - self._searching)

    def over(self) -> bool:
        """Return True if there is no time to evaluate another motion."""
        left = self._began + self._seconds - time.monotonic()
        return self._cancelled or left < self._reserve / _JUDGED

    def overdue(self) -> bool:
        """Return True if there is no time to repair a motion."""
        return time.monotonic() > self._began + self._seconds - self._reserve / (2.0 * _JUDGED)

    def watch(self, value: float) -> bool:
        """Report the best value; return True if all searches must end."""
        self._best = min(self._best, value)
        if self._progress is not None and np.isfinite(self._best):
            share = (time.monotonic() - self._began) / self._seconds
            self._progress(min(share, 1.0), self._best)
        if not self._cancelled and self._cancel is not None:
            self._cancelled = self._cancel()
        return self._cancelled


def _search(team: Team, work: _Work, method: Method, seed: int, count: int) -> list[SearchResult]:
    """Run all rounds of the remaining searches; return all results in a fixed order."""
    if method == 'genetic':
        tasks = [SearchTask(seed, start) for start in range(count)]
        return team.run(tasks, work.until(1.0), work.watch)
    done: list[SearchResult] = []
    chosen = [SearchTask(seed, start) for start in range(count)]
    for plan in ROUNDS:
        kept = max(1, round(plan.kept * len(chosen)))
        tasks = [replace(task, plan=plan) for task in chosen[:kept]]
        results = team.run(tasks, work.until(plan.until), work.watch)
        done = results + done
        if work.watch(float('inf')):
            break
        pairs = sorted(zip(results, tasks, strict=True), key=lambda pair: pair[0].value)
        chosen = [replace(task, previous=result) for result, task in pairs]
    return done


def _finishing(problem: DesignProblem, seed: int, seconds: float) -> float:
    """Measure the time in [s] to reserve for finishing, on a random motion."""
    began = time.monotonic()
    with suppress(MotionError):
        problem.finish(begin(problem, seed, 0).x)
    # the machine may become slower by a factor of 2; 0.2 s for closing the processes
    reserve = 0.2 + 2.0 * _JUDGED * (time.monotonic() - began)
    return reserve + (0.15 * seconds if problem.design.rules else 0.0)  # repairs take longer


def _best(problem: DesignProblem, results: list[SearchResult], work: _Work) -> Candidate:
    """Finish the most promising motions, at least one, and return the best within every limit."""
    best: Candidate | None = None
    reason: MotionError | None = None
    for place, item in enumerate(sorted(results, key=lambda item: item.value)):
        if best is not None and (place >= _JUDGED or work.over()):
            break
        try:
            candidate = _finish(problem, item.x, work)
        except MotionError as error:
            reason = error
            continue
        if best is None or _rank(candidate) < _rank(best):
            best = candidate
    if best is None and reason is not None and problem.design.rules:
        raise MotionError(
            f'{reason}; another start and end may have room for a motion: --position '
            f'(optimise.position of the node), now {np.round(problem.position, 3).tolist()}'
        )
    if best is None:
        raise reason or MotionError('no motion was found')
    return best


def _rank(candidate: Candidate) -> tuple[bool, float]:
    """Return the key of the best motion: one with enough cycles, then the best criterion."""
    return bool(candidate.slow), candidate.value


def _finish(problem: DesignProblem, x: Array, work: _Work) -> Candidate:
    """Finish the motion of x, with enough cycles of each joint if that is possible."""
    candidate = _finish_within_rules(problem, x, work)
    if candidate.slow:
        with suppress(MotionError):
            other = _finish_within_rules(problem, problem.quicken(x, work.overdue).x, work)
            candidate = min(candidate, other, key=_rank)
    return candidate


def _finish_within_rules(problem: DesignProblem, x: Array, work: _Work) -> Candidate:
    """Finish the motion of x; if it breaks a rule, return a repaired one if that is better."""
    candidate: Candidate | None = None
    with suppress(MotionError):
        candidate = problem.finish(x)
        if candidate.repaired == 1.0:
            return candidate
    mended = problem.mend(x, work.overdue)
    try:
        other = problem.finish(mended.x)
    except MotionError:
        if candidate is None:
            raise
        return candidate
    return other if candidate is None or other.value < candidate.value else candidate
