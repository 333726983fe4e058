# SPDX-License-Identifier: Apache-2.0
"""Random limits, from wide to infeasible: motions within them, or refusals with a reason.

`python bench/bench_excitation_limits.py [--examples 1000]`: limit sets that hypothesis draws
(`bench/random_designs.py`: robot, kind of motion, criterion, limits, margins,
torque limits, box, self-collision), a tenth of a second of search each. Stops at
the first failure, with a minimal design.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # it searches in this process

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support/plants')]

from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from random_designs import designs, judge  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--examples', type=int, default=1000)
    arguments = parser.parse_args()
    answers: Counter[str] = Counter()
    slowest = 0.0

    @settings(
        max_examples=arguments.examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(designs())
    def run(design):  # type: ignore[no-untyped-def]
        nonlocal slowest
        began = time.monotonic()
        answer = judge(design)
        slowest = max(slowest, time.monotonic() - began)
        answers['kept' if answer == 'kept' else 'refused: ' + ' '.join(answer.split()[:5])] += 1

    began = time.monotonic()
    run()
    for answer, count in answers.most_common():
        print(f'{count:5d}  {answer} ...' if answer != 'kept' else f'{count:5d}  kept every limit')
    print(
        f'{sum(answers.values())} limit sets in {time.monotonic() - began:.0f} s, none broken; '
        f'the slowest took {slowest:.1f} s with its checks'
    )
    return 0


if __name__ == '__main__':
    sys.exit(main())
