# SPDX-License-Identifier: Apache-2.0
"""Criteria of optimised motions, relative to the published one.

Two robots of well-known geometry, limits of Table 1 and coefficients of Table 3 of document
"double_encoder_identification_2023" (joint 6 with its misprints corrected), 5 harmonics, 20 s,
200 samples, the same base columns, both ends at rest. Then the document's genetic
algorithm in the same time, for comparison, and two other robots, a KUKA iiwa R800 and a DELTA,
compared with the median of random feasible motions. Every motion is checked on a 1 ms grid:
`limits` is its largest used share of a limit.

Run without other load: `python bench/bench_excitation.py [--time 60] [--only cond] [--json]`; it
takes 12 runs of `--time`, and exits non-zero when a figure is missed. On a busy machine the
searches may not be complete in time; `--patience 20` multiplies the time for the same searches.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # as the processes that search

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support/plants')]

import numpy as np  # noqa: E402
from published import robot, table1, table3_states  # noqa: E402
from robots import dh_urdf  # noqa: E402

from robodyn_ros.excitation.design.criteria import Options  # noqa: E402
from robodyn_ros.excitation.design.optimize import optimise, starts_within  # noqa: E402
from robodyn_ros.excitation.design.problem import Design, DesignProblem  # noqa: E402
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion  # noqa: E402
from robodyn_ros.models.catalog import build_model  # noqa: E402
from robodyn_ros.models.serial.urdf import UrdfModel  # noqa: E402

# case: criterion, conservative bounds, method, figure, and per robot its bound; smaller is better,
# but for det. Of block and of the other robots the bound is that of the ratio.
CASES = {
    'cond': ('cond', False, 'gradient', 'condition_number', {'puma': 27.0, 'ur5': 29.0}),
    'conservative': ('cond', True, 'gradient', 'condition_number', {'puma': 42.0, 'ur5': 47.0}),
    'det': ('det', False, 'gradient', 'log10_det', {'puma': 120.0, 'ur5': 120.0}),
    'block': ('block', False, 'gradient', 'block_objective', {'puma': 0.25, 'ur5': 0.25}),
    'block_by_condition': (
        'block_by_condition',
        False,
        'gradient',
        'block_objective',
        {'puma': 0.25, 'ur5': 0.25},
    ),
    'genetic': ('cond', False, 'genetic', 'condition_number', {'puma': np.inf, 'ur5': np.inf}),
    'others': ('cond', False, 'gradient', 'condition_number', {'iiwa': 0.5, 'delta': 0.5}),
}
ROBOTS = ('puma', 'ur5', 'iiwa', 'delta')
RANDOM = 30
"""Number of random feasible motions for robots without a published one."""


def limits_of(names: tuple[str, ...], position: Any, velocity: Any) -> JointLimits:
    """Return limits, given in degrees, with the accelerations of Table 1."""
    low, high = (np.radians(side) * np.ones(len(names)) for side in position)
    endless = np.full(len(names), np.inf)
    return JointLimits(
        names, ('rad',) * len(names), low, high, np.radians(velocity) * np.ones(len(names)),
        np.full(len(names), np.radians(120.0)), endless, endless,
    )  # fmt: skip


def iiwa() -> Design:
    """Return a KUKA iiwa R800: geometry of iiwa_cad_vs_actual, limits of the data sheet."""
    rows = [(0.34, 90), (0.0, -90), (0.4, -90), (0.0, 90), (0.4, 90), (0.0, -90)]
    links = [(0.0, 0.0, 0.0), *((np.radians(angle), 0.0, length) for length, angle in rows)]
    model = UrdfModel.from_xml(dh_urdf(links), rotor_inertia=False)
    reach = np.array([170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 175.0])
    speed = np.array([98.0, 98.0, 100.0, 130.0, 140.0, 180.0, 180.0])
    return Design(model, limits_of(model.joint_names, (-reach, reach), speed))


def delta() -> Design:
    """Return a DELTA of softMC's kind, arms 0.25 m and 0.6 m long."""
    joints = [f'joint{number}' for number in (1, 2, 3)]
    geometry = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.25, 'L_BC': 0.6}
    description = {'kind': 'delta', 'dynamic_model': 1, 'joints': joints, 'geometry': geometry}
    model = build_model(description)
    return Design(model, limits_of(model.joint_names, (-20.0, 50.0), 100.0))


def make_design(case: str, name: str) -> Design:
    if case == 'others':
        return {'iiwa': iiwa, 'delta': delta}[name]()
    criterion, conservative, *_ = CASES[case]
    return Design(robot(name), table1(), criterion=Options(criterion), conservative=conservative)


def reference(case: str, problem: DesignProblem, figure: str) -> float:
    """Return the figure of the published motion, or the median of random feasible ones."""
    if case != 'others':
        return problem.criterion.figures(*table3_states())[figure]
    random = np.random.default_rng(0)
    motions = [problem.finish(problem.family.start(random)).trajectory for _ in range(RANDOM)]
    values = [problem.criterion.figures(*problem.states(motion))[figure] for motion in motions]
    return float(np.median(values))


def run_case(case: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    _, _, method, figure, bounds = CASES[case]
    design = make_design(case, name)
    problem = DesignProblem(design)
    before = reference(case, problem, figure)
    began, cpu = time.monotonic(), os.times()
    result = optimise(
        design,
        seconds=options.time * options.patience,
        starts=starts_within(problem, options.time, method),
        seed=options.seed,
        processes=2,
        method=method,
    )
    after = os.times()
    check_motion(result.trajectory, design.limits)
    value = result.figures[figure]
    ratio, bound = value / before, bounds[name]
    judged = ratio if figure == 'block_objective' or case == 'others' else value
    used = max(float(share.max()) for share in result.shares.values())
    good = judged >= bound if case == 'det' else judged <= bound
    return {
        'case': case,
        'robot': name,
        'published': before,
        'found': value,
        'condition_number': result.figures['condition_number'],
        'weights': problem.criterion.block_weights,
        'ratio': ratio,
        'bound': bound if np.isfinite(bound) else None,
        'limits': used,
        'met': bool(good and used <= 1.0),
        'seconds': time.monotonic() - began,
        'cpu_seconds': sum(after[:4]) - sum(cpu[:4]),
        'starts': result.starts,
        'complete': result.complete,
        'load': os.getloadavg()[0],
    }


def line(row: dict[str, Any]) -> str:
    word = 'met' if row['met'] else 'MISSED'
    verdict = 'for comparison' if row['bound'] is None else f'bound {row["bound"]:g} {word}'
    weights = ''.join(f', {name} {value:.3f}' for name, value in row['weights'].items())
    before = 'random' if row['case'] == 'others' else 'published'
    return (
        f'{row["case"]:<13} {row["robot"]:<5} {before} {row["published"]:8.2f}  found '
        f'{row["found"]:8.2f}  ratio {row["ratio"]:.3f}  {verdict}  limits {row["limits"]:.4%}  '
        f'{row["seconds"]:.1f} s ({row["cpu_seconds"]:.0f} s cpu, load {row["load"]:.1f}, '
        f'{row["starts"]} starts, complete {row["complete"]})'
        f'  cond(W) {row["condition_number"]:.1f}{weights}'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--time', type=float, default=60.0)
    parser.add_argument('--patience', type=float, default=1.0)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--only', choices=CASES)
    parser.add_argument('--robot', choices=ROBOTS)
    parser.add_argument('--json', action='store_true')
    arguments = parser.parse_args()
    rows = []
    for case in CASES if arguments.only is None else [arguments.only]:
        for name in CASES[case][-1]:
            if arguments.robot in (None, name):
                rows.append(run_case(case, name, arguments))
                if not arguments.json:
                    print(line(rows[-1]), flush=True)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    return 0 if all(row['met'] for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
