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


def main() -> int:
    """Run; return 1 if something did not hold."""
    parser = argparse.ArgumentParser(prog='python -m test.faults.nodes', description=__doc__)
    parser.add_argument('--messages', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument(
        '--block',
        type=int,
        default=500,
        help='messages until the nodes are looked at, and brought back to work',
    )
    parser.add_argument('--stops', type=int, default=1, help='a stop every so many blocks')
    parser.add_argument('--folder', type=Path, help='for the logs; else temporary')
    given = parser.parse_args()
    import numpy as np
    from faults.nodes.fuzz_cell import FuzzCell
    from stacks import dump

    with tempfile.TemporaryDirectory(prefix='faults_nodes_') as folder:
        place = given.folder or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        cell = FuzzCell(place, given.seed)
        begin = time.monotonic()
        try:
            cell.begin()
            before = cell.memory()
            block = 0
            while cell.sent < given.messages:
                block += 1
                cell.fire(min(given.block, given.messages - cell.sent))
                if block % given.stops == 0:
                    cell.stop_under_fire(50)
                cell.work()
                if block % 10 == 0:
                    print(f'{cell.sent} after {time.monotonic() - begin:.0f} s: {cell.memory()}',
                          *cell.wrong[-3:], sep='\n', flush=True)  # fmt: skip
            cell.look()
            after = cell.memory()
        except KeyboardInterrupt:
            print('interrupted: the figures are those until then')
            after = cell.memory()
        except AssertionError as error:
            cell.wrong.append(str(error))
            dump(cell.processes, place)  # it may be a hang
            after = before = {}
        finally:
            cell.close()
            unstable = cell.unstable()
    large = [f'{name} took {sizes[1]} MB' for name, sizes in after.items() if sizes[1] > LARGEST]
    print(f'{cell.sent} messages and requests in {time.monotonic() - begin:.0f} s, '
          f'{cell.cycles} torques of which {cell.torque} not zero, {cell.restarts} restarts '
          'of nodes')  # fmt: skip
    print(f'the simulated robot became unstable in {unstable} s of the log, {cell.resets} '
          f'resets more than motions; load {os.getloadavg()}')  # fmt: skip
    print(f'memory now and at most [MB]: {after}; at the start: {before}')
    if cell.stops:
        p50, p99, most = 1e3 * np.percentile(cell.stops, (50, 99, 100))
        print(f'{len(cell.stops)} stops: p50 {p50:.1f} ms, p99 {p99:.1f} ms, max {most:.1f} ms')
    print(*cell.wrong, *large, sep='\n')
    return int(bool(cell.wrong or large))


if __name__ == '__main__':
    sys.exit(main())
