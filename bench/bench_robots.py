# SPDX-License-Identifier: Apache-2.0
"""Torque error on recordings that were not fitted, of every split of the real machines.

All ways are judged on the same signals of the validation, below 10 Hz: the RMS torque error over
the RMS torque, all joints together. `own` is the error that `identify` reports, below its own
cut-off. The ways, each relative to plain least squares (linear friction, hardly a prior, 10 Hz):
default, the mean of candidates without its limits, of one cut-off, of linear friction only,
without the spread on random states, with weights for each joint (which no robot can have), the
candidate of the smallest cost, and the best one in hindsight.
`python bench/bench_robots.py [--robots WORD ...]`, about two minutes.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from bench.robot_splits import all_splits  # noqa: E402
from bench.verdict.corpus import Split  # noqa: E402
from robodyn_ros.identification.average.mean import (  # noqa: E402
    Fits,
    fit_candidates,
    judge_candidates,
)
from robodyn_ros.identification.average.weights import best_weights  # noqa: E402
from robodyn_ros.identification.fit.torque_errors import FitReport  # noqa: E402
from robodyn_ros.identification.options import IdentifyOptions  # noqa: E402
from robodyn_ros.identification.signals.moving_samples import options_for  # noqa: E402
from robodyn_ros.identification.steps.preparation import USUAL_CUTOFF, Task  # noqa: E402
from robodyn_ros.identification.steps.run import (  # noqa: E402
    IdentificationRun,
    idle_constants,
    tally_all,
)
from robodyn_ros.models.catalog import with_friction  # noqa: E402
from robodyn_ros.models.friction import body_of  # noqa: E402
from robodyn_ros.models.friction_terms import DEFAULT_TERMS  # noqa: E402
from robodyn_ros.models.interface import Array, DynamicModel  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

WAYS = (
    'default', 'no limits', 'one cut-off', 'linear', 'no spread', 'per joint', 'smallest', 'best',
)  # fmt: skip


class Judge:
    """Torque errors on a validation."""

    def __init__(self, run: IdentificationRun, test: Recording) -> None:
        """Process the validation below the usual cut-off."""
        self.run, self.test = run, test
        rate = 1.0 / run.task.recordings[0].period
        filtered = run.prepared.parts[0].cutoffs is not None
        self.cutoff = min(USUAL_CUTOFF, 0.2 * rate) if filtered else None
        self.options = replace(run.task.options, filter_cutoff=self.cutoff)

    def report(self, model: DynamicModel, values: Array, *, shifted: bool = True) -> FitReport:
        """Return the errors of parameter values (p,); idle joints have their constant."""
        task = replace(self.run.task, model=model, options=self.options)
        parts = task.process(self.test)
        parts = parts.correct(self.run.prepared.offsets) if shifted else parts
        return tally_all(model, values, parts)[0].report(parts.shown, '')

    def joints(self, base_values: Array) -> Array:
        """Return the mean squared error of base values (b,) of the run, (n,)."""
        values = np.linalg.pinv(self.run.regression.base.grouping) @ base_values
        values = idle_constants(self.run.prepared, values, [0])
        return self.report(self.run.prepared.model, values).rms_error ** 2


def plain_error(run: IdentificationRun, judge: Judge) -> FitReport:
    """Return the errors of plain least squares: the first candidate of linear friction."""
    task = run.task
    model = with_friction(body_of(task.model), DEFAULT_TERMS)
    options = replace(judge.options, time_offset='no', consistent='no')
    plain = IdentificationRun.of(replace(task, model=model, options=options))
    fits = candidates_of(plain)
    values = np.linalg.pinv(plain.regression.base.grouping) @ fits.values[0, -1]
    return judge.report(model, idle_constants(plain.prepared, values, [0]), shifted=False)


def candidates_of(run: IdentificationRun) -> Fits:
    """Return the candidates of a run, each without each fold."""
    listed, _, parts = run.regression.divide([0])
    return fit_candidates(listed, parts, run.regression.problem)


def ratios(split: Split) -> tuple[float, float, list[float]]:
    """Return own and plain error of a split, and the errors of all ways relative to plain."""
    model = split.model()
    fit, test = split.read(model)
    task = Task((fit,), model, options_for(model, IdentifyOptions()), None, test)
    run = IdentificationRun.of(task)
    judge = Judge(run, test)
    plain = plain_error(run, judge)
    moved = plain.moving_samples > 0

    def pooled(square: Array) -> float:
        return float(np.sqrt(square[moved].sum() / (plain.rms_torque[moved] ** 2).sum()))

    smallest = pooled(plain.rms_error**2)
    default = judge.report(run.prepared.model, run.estimated.values)
    errors = [pooled(default.rms_error**2), *map(pooled, _other_ways(run, judge))]
    own = run.validation or run.report
    part = np.sum(own.rms_error[moved] ** 2) / np.sum(own.rms_torque[moved] ** 2)
    return float(np.sqrt(part)), smallest, [each / smallest for each in errors]


def _other_ways(run: IdentificationRun, judge: Judge) -> list[Array]:
    """Return the mean squared errors (n,) of the ways beside the default."""
    fits, products = candidates_of(run), run.regression.products
    values, every = fits.values[:, -1], np.ones(len(fits.values), dtype=bool)

    def cost(joints: slice = slice(None), states: Sequence[Array] = products) -> Array:
        return np.sum([each.cost(joints) for each in judge_candidates(fits, states)], axis=0)

    def mean(matrix: Array, chosen: Array) -> Array:
        kept = np.flatnonzero(chosen)
        return judge.joints(best_weights(matrix[np.ix_(kept, kept)]) @ values[kept])

    one = np.array([each.cutoff == 0 for each in fits.candidates])
    linear = np.array([each.law in ('linear', 'as given') for each in fits.candidates])
    joints = [mean(cost(slice(k, k + 1)), every)[k] for k in range(len(products))]
    single = [judge.joints(each) for each in values]
    return [
        mean(cost(), every),
        mean(cost(), one),
        mean(cost(), linear),
        mean(cost(states=[np.zeros_like(each) for each in products]), every),
        np.array(joints),
        single[int(np.argmin(np.diag(cost())))],
        min(single, key=lambda square: float(square.sum())),
    ]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', nargs='+', help='splits whose names contain one of these')
    given = parser.parse_args()
    warnings.simplefilter('ignore')
    rows = []
    print(f'{"split":<34} {"own":>7} {"plain":>7}  ' + ' '.join(f'{w:>11}' for w in WAYS))
    with threadpool_limits(limits=1, user_api='blas'):
        for split in all_splits():
            if given.robots and not any(word in split.name for word in given.robots):
                continue
            own, plain, row = ratios(split)
            rows.append(row)
            text = ' '.join(f'{each:>11.3f}' for each in row)
            print(f'{split.name:<34} {own:>7.2%} {plain:>7.2%}  {text}', flush=True)
    table = np.array(rows)
    for title, line, spec in (
        ('geometric mean', np.exp(np.log(table).mean(axis=0)), '.3f'),
        ('splits worse than plain by 2 %', (table > 1.02).sum(axis=0), 'd'),
        ('the worst', table.max(axis=0), '.3f'),
    ):
        print(f'{title:<50}  ' + ' '.join(f'{each:>11{spec}}' for each in line))
    return 0


if __name__ == '__main__':
    sys.exit(main())
