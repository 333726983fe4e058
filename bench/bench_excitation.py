"""How well optimised motions excite, beside the published one: issue figures as ratios.

Two robots of well-known geometry, limits of Table 1 and coefficients of Table 3 of document
"double_encoder_identification_2023" (joint 6 with its misprints corrected), 5 harmonics, 20 s,
200 samples, the same base columns, the same rest at both ends, limits kept on a 1 ms grid.
Run it alone: `python bench/bench_excitation.py [--time 60] [--only cond] [--json]`; it takes
8 runs of `--time`, and exits non-zero when a figure is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from published import robot, table1, table3_states  # noqa: E402

from robodyn_ros.excitation.criteria import Options  # noqa: E402
from robodyn_ros.excitation.limits import check_motion  # noqa: E402
from robodyn_ros.excitation.optimize import optimise  # noqa: E402
from robodyn_ros.excitation.problem import Design, Problem  # noqa: E402

# case: criterion, conservative bounds, figure, and per robot its bound; smaller is better but det
CASES = {
    'cond': ('cond', False, 'condition_number', {'puma': 27.0, 'ur5': 29.0}),
    'conservative': ('cond', True, 'condition_number', {'puma': 42.0, 'ur5': 47.0}),
    'det': ('det', False, 'log10_det', {'puma': 120.0, 'ur5': 120.0}),
    'block': ('block', False, 'block_objective', {'puma': 0.25, 'ur5': 0.25}),
}


def run_case(case: str, name: str, seconds: float, seed: int) -> dict[str, Any]:
    criterion, conservative, figure, bounds = CASES[case]
    design = Design(robot(name), table1(), criterion=Options(criterion), conservative=conservative)
    published = Problem(design).criterion.figures(*table3_states())
    began, cpu = time.monotonic(), os.times()
    result = optimise(design, seconds=seconds, seed=seed, processes=2)
    after = os.times()
    check_motion(result.trajectory, design.limits)
    value, before = result.figures[figure], published[figure]
    ratio = value / before
    judged = ratio if case == 'block' else value
    bound = bounds[name]
    return {
        'case': case,
        'robot': name,
        'published': before,
        'found': value,
        'ratio': ratio,
        'bound': bound,
        'met': judged >= bound if case == 'det' else judged <= bound,
        'seconds': time.monotonic() - began,
        'cpu_seconds': sum(after[:4]) - sum(cpu[:4]),
        'starts': result.starts,
        'complete': result.complete,
        'load': os.getloadavg()[0],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--time', type=float, default=60.0)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--only', choices=CASES)
    parser.add_argument('--robot', choices=('puma', 'ur5'))
    parser.add_argument('--json', action='store_true')
    arguments = parser.parse_args()
    rows = []
    for case in CASES if arguments.only is None else [arguments.only]:
        for name in ('puma', 'ur5') if arguments.robot is None else [arguments.robot]:
            row = run_case(case, name, arguments.time, arguments.seed)
            rows.append(row)
            if not arguments.json:
                word = 'met' if row['met'] else 'MISSED'
                print(
                    f'{case:<13} {name:<5} published {row["published"]:8.2f}  found '
                    f'{row["found"]:8.2f}  ratio {row["ratio"]:.3f}  bound {row["bound"]:g} '
                    f'{word}  {row["seconds"]:.1f} s ({row["cpu_seconds"]:.0f} s cpu, '
                    f'load {row["load"]:.1f}, complete {row["complete"]})',
                    flush=True,
                )
    if arguments.json:
        print(json.dumps(rows, indent=2))
    return 0 if all(row['met'] for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
