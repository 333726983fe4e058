# SPDX-License-Identifier: Apache-2.0
"""Searches on several cores.

The workers are new processes with one thread each for linear algebra, so that their number does
not change the result of a search.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.check import Coverage
from robodyn_ros.excitation.design.problem import Design, DesignProblem
from robodyn_ros.excitation.design.search import Round, SearchResult, begin, evolve, improve
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import DynamicModel

_THREADS = ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS')
_LOOK = 0.1
"""Period [s] at which the parent checks for news and for a stop."""

Watch = Callable[[float], bool]
"""Receives the criterion of any search's motion; returns True to stop all searches."""


@dataclass(frozen=True)
class SearchTask:
    """One search, or one round of it.

    :param plan: round of a search by gradients; None: a search by evolution
    :param previous: result to continue from; None: the random start of this number
    """

    seed: int
    start: int
    plan: Round | None = None
    previous: SearchResult | None = None


class Team:
    """Runner of searches in this process or in others."""

    def __init__(self, design: Design, problem: DesignProblem, processes: int) -> None:
        """Start the processes.

        :param processes: number of processes; 0: search in this process
        """
        self._problem = problem
        self._pool: ProcessPoolExecutor | None = None
        if processes > 0:
            description = cast(DynamicModel, design.model.describe())
            shipped = replace(design, model=description, coverage=Coverage())
            context = multiprocessing.get_context('spawn')
            self._stop, self._news = context.Event(), context.Queue()
            self._pool = ProcessPoolExecutor(
                processes,
                mp_context=context,
                initializer=_begin,
                initargs=(shipped, self._stop, self._news),
            )
            before = set(multiprocessing.active_children())
            with _limit_threads(), _no_interrupts():
                # processes start with the first tasks, while the settings are active
                for _ in range(processes):
                    self._pool.submit(_ready)
            self._children = set(multiprocessing.active_children()) - before

    def run(
        self, tasks: Sequence[SearchTask], deadline: float, watch: Watch
    ) -> list[SearchResult]:
        """Run the tasks and return their results in order.

        :raises MotionError: a process ended unexpectedly; the others are ended too
        """
        if self._pool is None:
            return [self._here(task, deadline, watch) for task in tasks]
        try:
            futures = [self._pool.submit(_work, task, deadline) for task in tasks]
            left: set[Future[SearchResult]] = set(futures)
            while left and time.monotonic() < deadline + 3.0 * _LOOK:
                _, left = wait(left, timeout=_LOOK, return_when=FIRST_COMPLETED)
                if any([watch(value) for value in self._drain()] or [watch(float('inf'))]):
                    self._stop.set()
                    deadline = min(deadline, time.monotonic())
            pairs = zip(tasks, futures, strict=True)
            return [self._result(task, future) for task, future in pairs]
        except BrokenProcessPool as error:
            self.close()
            raise MotionError(
                'a process that searches for a motion ended unexpectedly (out of memory, or its '
                'model cannot be built there from its description); processes=0 searches here'
            ) from error

    def _here(self, task: SearchTask, deadline: float, watch: Watch) -> SearchResult:
        return search(
            self._problem,
            task,
            stop=lambda: watch(float('inf')) or time.monotonic() > deadline,
            news=watch,
        )

    def _result(self, task: SearchTask, future: Future[SearchResult]) -> SearchResult:
        """Return the result of a task; its start if no process reached it in time."""
        if future.done():
            return future.result()
        future.cancel()
        first = task.previous or begin(self._problem, task.seed, task.start)
        return replace(first, complete=False)

    def _drain(self) -> Iterator[float]:
        while True:
            try:
                yield self._news.get_nowait()
            except queue.Empty:
                return

    def close(self) -> None:
        """End the processes; terminate one that does not react because it is still starting."""
        if self._pool is None:
            return
        self._stop.set()
        impatient = threading.Timer(3.0 * _LOOK, self._terminate)
        impatient.start()
        # Only the pool's own thread waits for the processes: of two that do, one may come back
        # before the process counts as ended.
        self._pool.shutdown(cancel_futures=True)
        impatient.cancel()
        self._news.close()

    def _terminate(self) -> None:
        for child in self._children:
            child.terminate()


def search(
    problem: DesignProblem,
    task: SearchTask,
    stop: Callable[[], bool],
    news: Callable[[float], object],
) -> SearchResult:
    """Run one task."""
    if task.plan is None:
        return evolve(problem, task.seed, task.start, stop, news)
    first = task.previous or begin(problem, task.seed, task.start)
    return improve(problem, first, task.plan, stop, news)


class _Worker:
    """State of a worker process between tasks."""

    problem: DesignProblem
    stop: Any
    news: Any


def _begin(design: Design, stop: Any, news: Any) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    description = cast(dict[str, object], design.model)  # see `Team`
    _Worker.problem = DesignProblem(replace(design, model=build_model(description)))
    _Worker.stop, _Worker.news = stop, news
    news.cancel_join_thread()  # unread news must not keep the process alive


def _end_with_parent() -> None:
    """End this process if its parent was killed, which would leave it waiting forever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _ready() -> None:
    time.sleep(_LOOK)  # long enough for every process to get one


def _work(task: SearchTask, deadline: float) -> SearchResult:
    def stop() -> bool:
        return time.monotonic() > deadline or bool(_Worker.stop.is_set())

    return search(_Worker.problem, task, stop, _Worker.news.put)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Start processes that ignore Ctrl-C: the parent handles it and stops them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _limit_threads() -> Iterator[None]:
    """Start processes with one thread each for linear algebra."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, '1'))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
