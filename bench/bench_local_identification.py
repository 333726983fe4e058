# SPDX-License-Identifier: Apache-2.0
"""Local identification: the comparison of document "local_identification", on a simulated NS16.

Three excitations with the same criterion (D-optimality, Eq. 9, of all 58 parameters): A, sums of
sines over the complete workspace; A_local, the same within a sub-region; B, moves of a motion
planner between via-points of the sub-region. Each is run 30 times on a plant with elastic joints,
Stribeck and load-dependent friction (`ns16_plant`), 58 parameters are identified from it by
weighted least squares, and the torque they predict is compared with the measured one on three test
cases of 30 random motions: planner moves in the sub-region, sums of sines and planner moves over
the complete workspace. Prints the mean absolute error and standard deviation per axis, in [Nm] and
in per cent of the nominal torque, as in Table II of the document, and which of its results are
confirmed; this does not affect the exit code. Exits non-zero if a motion leaves its limits or its
region, a drive exceeds its peak torque, or a search is not complete (the same seed then gives the
same table): `python bench/bench_local_identification.py [--seed 0]`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'bench')]

from ns16_motions import (  # noqa: E402
    Space,
    joint_moves,
    line_moves,
    ns16_model,
    sine_sum,
    spaces,
)
from ns16_plant import COULOMB, NOMINAL, PEAK, STRIBECK, Plant, Run  # noqa: E402

from robodyn_ros.excitation.design.criteria import (  # noqa: E402
    Options,
    torque_weights,
)
from robodyn_ros.excitation.design.optimize import optimise  # noqa: E402
from robodyn_ros.excitation.design.problem import Design, DesignProblem  # noqa: E402
from robodyn_ros.excitation.trajectory import Array, Trajectory  # noqa: E402
from robodyn_ros.identification.factors.passes import condense_signals  # noqa: E402
from robodyn_ros.identification.fit.least_squares import estimate  # noqa: E402
from robodyn_ros.identification.options import IdentifyOptions  # noqa: E402
from robodyn_ros.identification.signals.processed import Processed  # noqa: E402
from robodyn_ros.identification.signals.processing import process  # noqa: E402
from robodyn_ros.models.base_parameters import BaseParameters, base_parameters  # noqa: E402
from robodyn_ros.models.interface import DynamicModel, sample_blocks  # noqa: E402

ALGORITHMS = ('A', 'A_local', 'B')
CASES = ('1 planner, sub-region', '2 sines, workspace', '3 planner, workspace')
MOTIONS = 30
REPETITIONS = 30
DURATION = 20.0
"""Duration of the excitations, in [s]; test sines are half as long."""
STARTS = 4
FLY_BY = 0.5
"""Fly-by of B at its via-points: the mean of the test motions."""
LINES = 3
"""Every third planner motion in the sub-region consists of straight lines of the tool."""
PATIENCE = 900.0
"""Longest duration of a search, in [s]; searches normally end before."""
CUTOFF = 10.0
"""Low pass of all records, in [Hz]: ten times the fastest sine, below most elastic modes."""
BEST = {CASES[0]: 'B', CASES[1]: 'A'}
"""Best excitation of each test case in the document, on five or six of six axes."""


@dataclass
class Promises:
    """Conditions that must hold for any result of the comparison."""

    broken: list[str] = field(default_factory=list)

    def hold(self, kept: bool, sentence: str) -> None:
        if not kept:
            self.broken.append(sentence)


def designs(model: DynamicModel) -> dict[str, tuple[Design, Space]]:
    """Return the design of each algorithm, and its space."""
    wide, local = spaces()
    options = Options('det', torque_weights(NOMINAL, 'divide'))

    def design(space: Space, motion: str, harmonics: int) -> Design:
        return Design(
            model, space.limits, criterion=options, motion=motion, duration=DURATION,
            harmonics=harmonics, rules=space.rules(), fly_by=FLY_BY,
        )  # fmt: skip

    return {
        'A': (design(wide, 'sines', 5), wide),
        'A_local': (design(local, 'sines', 5), local),
        'B': (design(local, 'waypoints', 8), local),
    }


def test_motions(model: DynamicModel, seed: int, count: int) -> dict[str, list[Trajectory]]:
    """Return random motions of the three test cases."""
    wide, local = spaces()
    short: dict[str, Any] = {'motion': 'sines', 'duration': DURATION / 2.0, 'harmonics': 5}
    sines = DesignProblem(Design(model, wide.limits, rules=wide.rules(), **short))
    random = [np.random.default_rng([seed, case]) for case in range(3)]
    planner = [line_moves if k % LINES == 0 else joint_moves for k in range(count)]
    return {
        CASES[0]: [motion(model, local, random[0]) for motion in planner],
        CASES[1]: [sine_sum(sines, random[1]) for _ in range(count)],
        CASES[2]: [joint_moves(model, wide, random[2], points=5) for _ in range(count)],
    }


def run_plant(motions: Sequence[Trajectory]) -> list[Run]:
    return Plant().run(motions)


def simulate(motions: Sequence[Trajectory]) -> list[Run]:
    """Run all motions in two processes; results do not depend on their distribution."""
    order = np.argsort([-motion.duration for motion in motions], kind='stable')
    halves = [order[k::2] for k in range(2) if len(order[k::2])]
    result: dict[int, Run] = {}
    with ProcessPoolExecutor(2) as pool:
        for half, runs in zip(
            halves,
            pool.map(run_plant, [[motions[i] for i in half] for half in halves]),
            strict=True,
        ):
            result.update(zip(half.tolist(), runs, strict=True))
    return [result[index] for index in range(len(motions))]


def signals_of(run: Run, model: DynamicModel, seed: int, repetitions: int) -> Processed:
    """Return the recording of a run."""
    options = IdentifyOptions(filter_cutoff=CUTOFF)
    return process(run.recording(seed, repetitions), model.joint_names, options)


def identified(
    model: DynamicModel, base: BaseParameters, signals: Processed
) -> tuple[Array, float]:
    """Return base parameters by weighted least squares, and the scaled condition number."""
    options = IdentifyOptions(filter_cutoff=CUTOFF, consistent='no')
    factors = condense_signals(model, signals, base, options).factors
    found = estimate(factors, base.rank, estimator='wls')
    return found.values, found.condition_number_scaled


def coulomb(model: DynamicModel, base: BaseParameters, values: Array) -> Array:
    """Return Coulomb friction (6,) among base parameter values."""
    names = [model.parameters[column].name for column in base.columns]
    return np.array(
        [values[names.index(f'{name}.coulomb_friction')] for name in model.joint_names]
    )


def shown(values: Array) -> str:
    return ' '.join(f'{value:5.1f}' for value in values)


def errors(model: DynamicModel, base: BaseParameters, values: Array, signals: Processed) -> Array:
    """Return |measured - predicted|, shape (N, 6, K), for base parameters (K, b)."""
    result = np.empty((len(signals), 6, len(values)))
    for rows in sample_blocks(len(signals)):
        regressor = model.regressor(*(part[rows] for part in signals.motion))
        predicted = regressor[:, :, base.columns] @ values.T
        result[rows] = np.abs(signals.torque[rows, :, None] - predicted)
    return result


def excite(
    seed: int, starts: int, promises: Promises, model: DynamicModel
) -> dict[str, Trajectory]:
    """Optimise the three excitations."""
    result = {}
    for name, (design, space) in designs(model).items():
        best = optimise(design, seconds=PATIENCE, seed=seed, starts=starts, processes=2)
        promises.hold(best.complete, f'the search for {name} did not come to its end')
        promises.hold(space.keeps(model, best.trajectory), f'excitation {name} leaves its limits')
        result[name] = best.trajectory
        figures = best.figures
        print(
            f'{name:<8} log10 det {figures["log10_det"]:7.1f}  condition number '
            f'{figures["condition_number"]:8.1f}  {best.trajectory.duration:.1f} s  '
            f'(search {best.seconds:.0f} s) {best.note}',
            flush=True,
        )
    return result


def fits(
    model: DynamicModel,
    base: BaseParameters,
    runs: dict[str, Run],
    seed: int,
    promises: Promises,
) -> Array:
    """Return base parameters (3, 58) of the three excitations."""
    values = []
    for name, run in runs.items():
        signals = signals_of(run, model, seed, REPETITIONS)
        found, condition = identified(model, base, signals)
        promises.hold(np.isfinite(condition), f'excitation {name} does not show all parameters')
        rms = np.sqrt((errors(model, base, found[None], signals)[:, :, 0] ** 2).mean(axis=0))
        print(f'{name:<8} condition number, columns scaled {condition:6.1f}; residual of its own '
              f'motion, RMS, % of nominal torque: {shown(100.0 * rms / NOMINAL)}')  # fmt: skip
        print(f'{name:<8} Coulomb friction {shown(coulomb(model, base, found))} Nm')
        values.append(found)
    print(f'{"plant":<8} without load: {shown(COULOMB)} Nm when moving, '
          f'{shown(COULOMB + STRIBECK)} Nm at the lowest speed')  # fmt: skip
    return np.array(values)


def check_runs(runs: Sequence[Run], promises: Promises) -> None:
    """Check that drives are within their peak torques, and motors near their references."""
    peak = max(float((np.abs(run.torque) / PEAK).max()) for run in runs)
    off = max(float(np.abs(run.position - run.reference).max()) for run in runs)
    print(f'plant: {sum(run.time[-1] for run in runs):.0f} s of motion, at most {peak:.0%} of the '
          f'peak torques, at most {off * 1e3:.1f} mrad off the reference')  # fmt: skip
    promises.hold(peak <= 1.0, f'a drive needs {peak:.0%} of its peak torque')
    promises.hold(off <= 0.02, f'a motor is {off:.3f} rad off its reference')


def compare(seed: int, count: int, starts: int, promises: Promises) -> dict[str, Array]:
    """Return mean and standard deviation of the error in [Nm] per test case.

    Shape (2, 2, 6, 3): of all samples and of those where the joint moves; mean and deviation; per
    axis and algorithm.
    """
    model = ns16_model()
    base = base_parameters(model)
    print(f'NS16: {base.rank} base parameters, friction included')
    promises.hold(base.rank == 58, f'the NS16 has {base.rank} base parameters instead of 58')
    excitations = excite(seed, starts, promises, model)
    tests = test_motions(model, seed, count)
    wide, local = spaces()
    for case, motions in tests.items():
        space = local if 'sub-region' in case else wide
        kept = all(space.keeps(model, motion) for motion in motions)
        promises.hold(kept, f'a motion of test case {case} leaves its limits')
    motions = [*excitations.values(), *(motion for group in tests.values() for motion in group)]
    runs = simulate(motions)
    check_runs(runs, promises)
    values = fits(model, base, dict(zip(excitations, runs, strict=False)), seed, promises)
    result, first = {}, len(excitations)
    for number, case in enumerate(CASES):
        group = runs[first : first + count]
        seen = [signals_of(run, model, 1000 * number + k, 1) for k, run in enumerate(group)]
        rows = np.concatenate([errors(model, base, values, item) for item in seen])
        moving = np.concatenate([item.moving for item in seen])[:, :, None]
        result[case] = np.array([statistics(rows), statistics(np.where(moving, rows, np.nan))])
        first += count
    return result


def statistics(rows: Array) -> Array:
    """Return mean and standard deviation over the finite samples (N, 6, 3), shape (2, 6, 3)."""
    return np.stack([np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)])


def print_table(table: dict[str, Array]) -> None:
    """Return a table like Table II of the document; the best of three is marked."""
    heads = ''.join(f'{name:>17}' for name in ALGORITHMS)
    print(f'{"test case":<22} axis {heads}  [Nm] {heads}  [% of nominal torque]')
    for case, (figures, _) in table.items():
        for axis in range(6):
            best = int(np.argmin(figures[0, axis]))
            cells = []
            for unit in (1.0, 100.0 / NOMINAL[axis]):
                for column in range(3):
                    mean, spread = figures[:, axis, column] * unit
                    mark = '*' if column == best else ' '
                    cells.append(f'{mark}{mean:6.2f} +- {spread:6.2f}'.rjust(17))
                cells.append('       ')
            print(f'{case if axis == 0 else "":<22} {axis + 1:>4} {"".join(cells).rstrip()}')


def print_findings(table: dict[str, Array]) -> None:
    """Compare with the results of the document, for each axis."""
    for case, both in table.items():
        for what, figures in zip(('all samples', 'moving samples only'), both, strict=True):
            mean = figures[0]
            best = [ALGORITHMS[index] for index in mean.argmin(axis=1)]
            total = (mean / NOMINAL[:, None]).mean(axis=0)
            counts = ', '.join(f'{name} best on {best.count(name)}' for name in ALGORITHMS)
            shares = ', '.join(f'{n} {t:.2%}' for n, t in zip(ALGORITHMS, total, strict=True))
            print(f'test case {case}, {what}: {counts} of 6 axes; mean of axes: {shares}')
            if case in BEST:
                won = best.count(BEST[case])
                word = 'holds' if won >= 5 else 'holds in part' if won >= 3 else 'does not hold'
                print(f'  document: {BEST[case]} is best here. This {word} ({won} of 6 axes).')
    ratio = table[CASES[2]][0, 0, :, 0] / table[CASES[1]][0, 0, :, 0]
    print(f'A on planner moves / on its own class, both over the workspace: '
          f'{", ".join(f"{value:.2f}" for value in ratio)} (document: 4 to 5)')  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--motions', type=int, default=MOTIONS)
    parser.add_argument('--starts', type=int, default=STARTS)
    arguments = parser.parse_args()
    began, promises = time.monotonic(), Promises()
    table = compare(arguments.seed, arguments.motions, arguments.starts, promises)
    print_table(table)
    print_findings(table)
    finite = all(np.isfinite(figures).all() for figures in table.values())
    promises.hold(finite, 'an error is not finite')
    for sentence in promises.broken:
        print(f'BROKEN: {sentence}')
    print(f'{time.monotonic() - began:.0f} s, {sum(os.times()[:4]):.0f} s of processor time')
    return 1 if promises.broken else 0


if __name__ == '__main__':
    sys.exit(main())
