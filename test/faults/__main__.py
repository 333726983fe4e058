# SPDX-License-Identifier: Apache-2.0
"""`python -m test.faults --cases 100000`: the hostile files, and mutations of valid ones."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections import Counter
from operator import itemgetter
from pathlib import Path

os.environ['OPENBLAS_NUM_THREADS'] = os.environ['OMP_NUM_THREADS'] = '1'
os.environ['MPLBACKEND'] = 'Agg'
ROOT = Path(__file__).resolve().parents[2]
PARTS = ('', 'support', 'support/plants', 'support/monitor', 'support/ros')
sys.path[:0] = [str(ROOT / 'test' / part) for part in PARTS]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='python -m test.faults', description=__doc__)
    parser.add_argument('--cases', type=int, default=1000, help='number of mutations')
    parser.add_argument('--first', type=int, default=0, help='number of the first one')
    parser.add_argument('--seed', type=int, default=14)
    parser.add_argument('--jobs', type=int, default=1, help='processes')
    parser.add_argument('--only', default='', help='kind of file, or name of a hostile file')
    parser.add_argument('--no-hostile', action='store_true', help='mutations only')
    parser.add_argument('--verbose', action='store_true', help='show every outcome')
    return parser.parse_args()


def main() -> int:
    """Run the cases; return 1 if one ended badly."""
    arguments = parsed()
    from faults.child import GOOD, kind_of
    from faults.corpus import make_corpus
    from faults.hostile import HOSTILE
    from faults.kinds import KINDS
    from faults.pool import run_cases
    from faults.warm import warm

    mutations = range(arguments.first, arguments.first + arguments.cases)
    cases: list[int | str] = [*(() if arguments.no_hostile else HOSTILE), *mutations]
    if arguments.only in KINDS:
        cases = [n for n in mutations if kind_of(arguments.seed, n) == arguments.only]
    elif arguments.only:
        cases = [name for name in HOSTILE if arguments.only in name]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    counts: Counter[tuple[str, str]] = Counter()
    slowest: list[tuple[float, int | str]] = []
    with tempfile.TemporaryDirectory(prefix='faults_') as folder:
        corpus = Path(folder) / 'corpus'
        corpus.mkdir()
        make_corpus(corpus)
        warm(corpus)
        try:
            for outcome in run_cases(
                cases, corpus, Path(folder), seed=arguments.seed, jobs=arguments.jobs
            ):
                case, kind = outcome.case, kind_of(arguments.seed, outcome.case)
                counts[kind, outcome.word] += 1
                slowest = sorted(
                    [*slowest, (outcome.seconds, case)], key=itemgetter(0), reverse=True
                )[:5]
                if outcome.word not in GOOD or arguments.verbose:
                    line = f'{case} ({kind}): {outcome.word}: {outcome.command}: {outcome.text}'
                    print(line, flush=True)
        except KeyboardInterrupt:
            print('interrupted; the numbers are those of the cases until then')
    return report(counts, slowest)


def report(counts: Counter[tuple[str, str]], slowest: list[tuple[float, int | str]]) -> int:
    """Print the numbers of outcomes; return 1 if one was bad."""
    from faults.child import GOOD

    words = [*GOOD, *sorted({word for _, word in counts} - set(GOOD))]
    print(f'{"kind":<18}' + ''.join(f'{word:>12}' for word in words))
    for kind in dict.fromkeys(kind for kind, _ in counts):
        print(f'{kind:<18}' + ''.join(f'{counts[kind, word]:>12}' for word in words))
    totals = {word: sum(n for (_, w), n in counts.items() if w == word) for word in words}
    print(f'{"total":<18}' + ''.join(f'{totals[word]:>12}' for word in words))
    print('slowest: ' + ', '.join(f'{case} {seconds:.1f} s' for seconds, case in slowest))
    return int(any(word not in GOOD for word in words))


if __name__ == '__main__':
    sys.exit(main())
