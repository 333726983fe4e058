# SPDX-License-Identifier: Apache-2.0
"""`python -m test.faults.nodes --messages 100000 --seed 1`: all nodes."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ['OPENBLAS_NUM_THREADS'] = os.environ['OMP_NUM_THREADS'] = '1'
ROOT = Path(__file__).resolve().parents[3]
PARTS = ('', 'support', 'support/plants', 'support/monitor', 'support/ros')
sys.path[:0] = [str(ROOT / 'test' / part) for part in PARTS]
LARGEST = 1000.0
"""Largest memory of a node, in [MB]: half of it are libraries."""
BLOCK = 500
"""Messages until an excitation is stopped among requests, and all nodes return to work."""


def main() -> int:
    """Run; return 1 if something did not hold."""
    parser = argparse.ArgumentParser(prog='python -m test.faults.nodes', description=__doc__)
    parser.add_argument('--messages', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--folder', type=Path, help='for the logs; else temporary')
    given = parser.parse_args()
    import numpy as np
    from faults.nodes.fuzz_cell import FuzzCell
    from stacks import dump

    with tempfile.TemporaryDirectory(prefix='faults_nodes_') as folder:
        place = given.folder or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        cell, memory = FuzzCell(place, given.seed), {}
        start = time.monotonic()
        try:
            cell.begin()
            while cell.sent < given.messages:
                cell.fire(min(BLOCK, given.messages - cell.sent))
                cell.stop_under_fire(50)
                cell.work()
            cell.look()
            memory = cell.memory()
        except KeyboardInterrupt:
            print('interrupted: the figures are those until then')
        except AssertionError as error:
            cell.wrong.append(str(error))
            dump(cell.processes, place)  # it may be a hang
        finally:
            cell.close()
    large = [f'{name} took {size} MB' for name, size in memory.items() if size > LARGEST]
    print(f'{cell.sent} messages and requests in {time.monotonic() - start:.0f} s, '
          f'{cell.cycles} torques of which {cell.torque} not zero, {cell.restarts} restarts '
          f'of nodes; largest memory [MB]: {memory}')  # fmt: skip
    if cell.stops:
        p50, p99, most = 1e3 * np.percentile(cell.stops, (50, 99, 100))
        print(f'{len(cell.stops)} stops: p50 {p50:.1f} ms, p99 {p99:.1f} ms, max {most:.1f} ms')
    print(*cell.wrong, *large, sep='\n')
    return int(bool(cell.wrong or large))


if __name__ == '__main__':
    sys.exit(main())
