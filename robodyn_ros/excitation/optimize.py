"""Find the motion that reveals a robot's parameters best, inside every limit.

Many random starts are searched roughly, the most promising ones thoroughly; the best motion that
keeps every limit is the result. How many there are follows from the time budget alone, by a fixed
rate, so that a seed gives the same motion on any machine and any number of cores, as long as the
machine keeps up. Where it does not, the searches end with the time, and the result says so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.bounds import used_shares
from robodyn_ros.excitation.problem import Candidate, Design, Problem
from robodyn_ros.excitation.search import Found
from robodyn_ros.excitation.trajectory import Array, Trajectory
from robodyn_ros.excitation.workers import Task, Team

Method = Literal['gradient', 'genetic']
METHODS: tuple[str, ...] = get_args(Method)

STARTS_PER_MINUTE = {'gradient': 20.0, 'genetic': 2.0}
REFINED_SHARE = 5
"""One of so many starts is searched thoroughly."""
_FIRST_PART = 0.5
"""Share of the time after which rough searches end."""
_JUDGED = 4
"""So many of the motions found are made and judged as they are, within every limit."""
_RESERVE = 0.12
"""Share of the time kept for judging what was found."""

Progress = Callable[[float, float], None]
"""Told the share of the work that is done, and the best criterion so far."""
Cancel = Callable[[], bool]


@dataclass(frozen=True)
class Optimised:
    """The motion found, within every limit.

    :param trajectory: the motion
    :param value: criterion, see `Criterion`; the smaller the better
    :param figures: see `Criterion.figures`
    :param shares: of each joint's limits used, by quantity, shape (n,)
    :param seconds: it took
    :param starts: random starts that were searched
    :param complete: whether nothing (time, cancel) ended the search early: the same seed then
        gives the same motion anywhere
    :param note: what a limit other than the joints' own did to the motion, or ''
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
    starts: int | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Optimised:
    """Optimise a motion.

    :param seconds: time budget; it is kept, and says how much is searched
    :param starts: random starts instead of what the time budget says
    :param processes: how many to search in; None: one per core; 0: in this process
    :param cancel: asked now and then whether to end; the best so far is then the result
    :raises MotionError: no such motion can be made, saying which limit makes it impossible
    """
    began = time.monotonic()
    if not seconds > 0.0 or method not in METHODS:
        raise MotionError(
            f'expected seconds above 0 and one of {METHODS}, got {seconds}, {method}'
        )
    problem = Problem(design)
    count = _starts(seconds, method) if starts is None else max(1, starts)
    work = _Work(seconds, began, progress, cancel)
    cores = os.cpu_count() or 1
    team = Team(design, problem, cores if processes is None else processes)
    try:
        found = _search(team, work, method, seed, count)
    finally:
        team.close()
    best = _best(problem, found, work)
    return Optimised(
        trajectory=best.trajectory,
        value=best.value,
        figures=problem.criterion.figures(*problem.states(best.trajectory)),
        shares=used_shares(best.trajectory, design.limits.select(problem.limits.joints)),
        seconds=time.monotonic() - began,
        starts=count,
        complete=all(item.complete for item in found),
        note=_note(best),
    )


class _Work:
    """Deadlines, and the news of all searches."""

    def __init__(
        self,
        seconds: float,
        began: float,
        progress: Progress | None,
        cancel: Cancel | None,
    ) -> None:
        self._seconds, self._began = seconds, began
        self._progress, self._cancel = progress, cancel
        self._best = float('inf')

    def until(self, share: float) -> float:
        return self._began + share * (1.0 - _RESERVE) * self._seconds

    def over(self) -> bool:
        return time.monotonic() > self._began + self._seconds

    def watch(self, value: float) -> bool:
        """Pass the best value on; tell whether all is to end."""
        self._best = min(self._best, value)
        if self._progress is not None and np.isfinite(self._best):
            share = (time.monotonic() - self._began) / self._seconds
            self._progress(min(share, 1.0), self._best)
        return self._cancel is not None and self._cancel()


def _search(team: Team, work: _Work, method: Method, seed: int, count: int) -> list[Found]:
    """Rough searches, then thorough ones of the best; everything found, in a fixed order."""
    tasks = [Task(method, seed, start) for start in range(count)]
    first = team.run(tasks, work.until(_FIRST_PART), work.watch)
    order = sorted(range(count), key=lambda index: (first[index].value, index))
    chosen = [first[index] for index in order[: _refined(count, method)]]
    if work.watch(float('inf')):
        return first
    second = team.run(
        [Task(method, seed, 0, item.x) for item in chosen], work.until(1.0), work.watch
    )
    return second + first


def _best(problem: Problem, found: list[Found], work: _Work) -> Candidate:
    """The best motion that keeps every limit, of the most promising ones; one at least.

    :raises MotionError: none does
    """
    order = sorted(range(len(found)), key=lambda index: (found[index].value, index))
    best: Candidate | None = None
    reason: MotionError | None = None
    for place, index in enumerate(order):
        if best is not None and (place >= _JUDGED or work.over()):
            break
        try:
            candidate = problem.finish(found[index].x)
        except MotionError as error:
            reason = error
            continue
        if best is None or candidate.value < best.value:
            best = candidate
    if best is None:
        raise reason or MotionError('no motion was found')
    return best


def _note(best: Candidate) -> str:
    if best.repaired == 1.0:
        return ''
    return f'the motion was scaled down to {best.repaired:.1%}: before, {best.broken}'


def _starts(seconds: float, method: Method) -> int:
    return int(np.clip(round(seconds / 60.0 * STARTS_PER_MINUTE[method]), 2, 2000))


def _refined(count: int, method: Method) -> int:
    """How many of the starts are refined; a genetic algorithm ends with its last generation."""
    return 0 if method == 'genetic' else max(1, count // REFINED_SHARE)
