# SPDX-License-Identifier: Apache-2.0
"""Identification of unseen robots: random plants, each with a different truth.

Every plant is a random serial arm of 1 to 7 axes with a recording (50 Hz to 2 kHz, encoders of 12
to 20 bits, torque by motor current, at the motor or by joint sensors, noise, friction of six
kinds, sometimes rough URDF masses or a spring balancer). Half of the recordings have a flaw: too
short, joints at rest, late torque, gaps, repeated samples, drives off at the end, a wrong sign,
swapped torques, degrees, a wrong scale of time. The truth is the torque without noise on *another*
motion. Errors are relative to the larger of a joint's RMS torque and 5 % of its rated torque.

`python bench/bench_next_robot.py [--plants N] [--seed S] [--jobs J] [--only NUMBER] [--out FILE]
[--blind]` prints the ratio of the error to that of an expert with hindsight and to that of plain
weighted least squares (`next_robot/reference.py`), also by kind of recording, false errors, missed
flaws and right verdicts. One plant is the same alone or among others. Use a new seed for judging,
with --blind: single plants are then neither shown nor stored.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'bench'), str(ROOT / 'test/support/plants')]

from next_robot.judge import judged  # noqa: E402
from next_robot.plant import Plant  # noqa: E402
from next_robot.table import described, table  # noqa: E402

KEPT_BLIND = ('seed', 'number', 'fair', 'flaw', 'error', 'worst_joint', 'expert', 'plain',
              'estimate', 'success', 'findings', 'seconds')  # fmt: skip


def row_of(seed: int, number: int) -> dict[str, Any]:
    """Return the figures of a plant."""
    return judged(Plant.of(seed, number))


def _save(path: Path, rows: list[dict[str, Any]], *, blind: bool) -> None:
    """Write the figures so far; without descriptions of plants if blind."""
    kept = [{k: v for k, v in row.items() if not blind or k in KEPT_BLIND} for row in rows]
    path.write_text(json.dumps(kept, indent=1), 'utf-8')


def main() -> int:
    """Run the plants and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--plants', type=int, default=200)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--only', type=int, help='number of a single plant')
    parser.add_argument('--out', type=Path, help='JSON file for the figures')
    parser.add_argument('--blind', action='store_true', help='show no single plant')
    given = parser.parse_args()
    rows = []
    numbers = range(given.plants) if given.only is None else [given.only]
    with ProcessPoolExecutor(given.jobs, mp_context=get_context('spawn')) as pool:
        for row in pool.map(row_of, repeat(given.seed), numbers):
            rows.append(row)
            if given.out:
                _save(given.out, rows, blind=given.blind)
            if given.only is not None:
                print(described(row), *row['findings'], sep='\n')
            print(f'{len(rows)} of {len(numbers)}', file=sys.stderr, flush=True)
    print(table(rows, blind=given.blind))
    return 0


if __name__ == '__main__':
    sys.exit(main())
