# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.soak --seconds 3600`: an hour of random faults at 1 kHz."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'test/support' / part) for part in ('', 'plants', 'ros')]
from stacks import dump  # noqa: E402

from bench.soak.cell import SoakCell  # noqa: E402
from bench.soak.faults import drawn  # noqa: E402
from bench.soak.memory import Memory  # noqa: E402
from bench.soak.recordings import recorded  # noqa: E402

STILL = 0.1
"""Time without a look at the topics after which the soak itself stood still, in [s]: it looks
every 10 ms."""
STOOD_STILL = 'the soak stood still'
SEGMENT = 60.0
"""Length of a recording, in [s]: the next one begins at the first fault after it."""


def main() -> int:
    """Run; return 1 if something did not hold."""
    parser = argparse.ArgumentParser(prog='python -m bench.soak', description=__doc__)
    parser.add_argument('--seconds', type=float, default=3600.0, help='duration')
    parser.add_argument('--seed', type=int, default=1, help='of the faults')
    parser.add_argument('--pause', type=float, default=5.0, help='mean time between them')
    parser.add_argument(
        '--transport', help='of Fast DDS, such as UDPv4 (FASTDDS_BUILTIN_TRANSPORTS); else its own'
    )
    parser.add_argument('--folder', type=Path, help='for logs and recordings; else temporary')
    given = parser.parse_args()
    if given.transport:
        os.environ['FASTDDS_BUILTIN_TRANSPORTS'] = given.transport
    with tempfile.TemporaryDirectory(prefix='soak_') as folder:
        if given.folder:
            given.folder.mkdir(parents=True, exist_ok=True)
        cell = SoakCell(given.folder or Path(folder))
        soak = Soak(cell, Random(given.seed), given.pause)
        try:
            soak.run(given.seconds)
        finally:
            cell.close()
        return soak.report()


class Soak:
    """Faults, one after the other, and an account of every second.

    :ivar seconds: second of the system clock -> what it was
    :ivar pauses: begin and end of times in which the soak itself stood still, in [s]
    """

    def __init__(self, cell: SoakCell, random: Random, pause: float) -> None:
        self.cell, self.random, self.pause = cell, random, pause
        self.memory = Memory(cell)
        self.seconds: dict[int, str] = {}
        self.unexplained: list[str] = []
        self.faults: Counter[str] = Counter()
        self.recoveries: list[float] = []
        self.failure = ''
        self.pauses: list[tuple[float, float]] = []
        self._now = 'start'
        self._looked = 0.0
        self._recorded = 0.0

    def run(self, seconds: float) -> None:
        """Run for a time in [s], or until something does not come back."""
        cell, check = self.cell, self.cell.check

        def account() -> None:
            check()
            self._account()

        cell.check = account  # type: ignore[method-assign]
        try:
            cell.move(900.0)
            cell.recover()
            cell.checks.watching = True
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self._round()
            cell.stop_recording()
        except KeyboardInterrupt:
            print('interrupted: the figures are those until then')
            cell.stop_recording()
        except AssertionError as error:
            self.failure = str(error)
            dump(cell.processes, cell.folder)  # it may be a hang
            for file in cell.folder.glob('*.stacks'):
                print(f'{file.name}\n{file.read_text()}')

    def _round(self) -> None:
        cell = self.cell
        killed = -2 not in cell.segments.values()
        if killed or time.monotonic() > self._recorded + SEGMENT:
            cell.record()
            self._recorded = time.monotonic()
        self._quiet(self.random.expovariate(1.0 / self.pause) + 1.0)
        fault = drawn(self.random)
        self._now, cell.checks.quiet = f'{fault.kind} {fault.target}'.strip(), False
        self.faults[self._now] += 1
        print(f'{time.strftime("%H:%M:%S")} {fault}', flush=True)
        cell.strike(fault)
        self.recoveries.append(cell.recover())

    def _quiet(self, seconds: float) -> None:
        """Let time pass without faults; what does not work then is unexplained."""
        cell = self.cell
        self._now, cell.checks.quiet = 'quiet', True
        if cell.until(cell.working, seconds):
            self.unexplained.append(f'{time.strftime("%H:%M:%S")} {cell.working()}')
            self._now, cell.checks.quiet = 'unexplained', False
            cell.recover()

    def _account(self) -> None:
        """Note what this second is: quiet only if all of it was, and the soak looked on."""
        looked, self._looked = self._looked, time.time()
        now = int(self._looked)
        if now not in self.seconds:
            self.memory.look()
        if looked and self._looked - looked > STILL:
            self.pauses.append((looked, self._looked))
            for second in range(int(looked), now + 1):
                if self.seconds.get(second, 'quiet') == 'quiet':
                    self.seconds[second] = STOOD_STILL
        if now not in self.seconds or self._now != 'quiet':
            self.seconds[now] = self._now

    def report(self) -> int:
        """Print what was found; return 1 if something did not hold."""
        cell, checks = self.cell, self.cell.checks
        bags = recorded(cell.segments, cell.dropped, self.seconds, checks.heard)
        memory = self.memory.growth()
        print(json.dumps({
            'seconds': dict(Counter(self.seconds.values()).most_common()),
            'unaccounted seconds': self._gaps(),
            'pauses of the soak itself': self._standstill(),
            'joint states lost by the soak': self._lost(),
            'unexplained': self.unexplained[:20],
            'faults': dict(self.faults),
            'recovery max [s]': round(max(self.recoveries, default=0.0), 2),
            'deaf after a kill': cell.deaf,
            'messages': dict(checks.totals),
            'latency p50, p99, max [ms], number': {
                name: [round(value, 3) for value in row]
                for name, row in checks.percentiles().items()
            },
            'memory': memory,
            'recordings': bags.figures,
            'violations': dict(checks.counts),
            'examples': checks.wrong,
            'failure': self.failure,
        }, indent=1))  # fmt: skip
        bad = [*checks.counts, *bags.problems, self.failure, *self._gaps()]
        print('\n'.join(bags.problems))
        return int(any(bad))

    def _standstill(self) -> dict[str, float]:
        """Return number, sum and maximum of the pauses, in [s]."""
        return {
            'number': len(self.pauses),
            'sum [s]': round(sum(end - begin for begin, end in self.pauses), 2),
            'max [s]': round(max((end - begin for begin, end in self.pauses), default=0.0), 2),
        }

    def _lost(self) -> dict[str, int]:
        """Return how much was lost, and of this, how much while the soak stood still."""
        still = [
            count
            for before, after, count in self.cell.checks.lost
            if any(before < end and after > begin for begin, end in self.pauses)
        ]
        lost = [count for _, _, count in self.cell.checks.lost]
        return {
            'messages': sum(lost), 'times': len(lost),
            f'messages while {STOOD_STILL}': sum(still), 'at times': len(still),
        }  # fmt: skip

    def _gaps(self) -> list[int]:
        """Seconds that are in no account."""
        known = sorted(self.seconds)
        return [s for s in range(known[0], known[-1]) if s not in self.seconds] if known else []


if __name__ == '__main__':
    sys.exit(main())
