# SPDX-License-Identifier: Apache-2.0
"""`python -m test.faults --cases 100000`: the hostile files, and mutations of valid ones."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

os.environ['OPENBLAS_NUM_THREADS'] = os.environ['OMP_NUM_THREADS'] = '1'
os.environ['MPLBACKEND'] = 'Agg'
ROOT = Path(__file__).resolve().parents[2]
PARTS = ('', 'support', 'support/plants', 'support/monitor', 'support/ros')
sys.path[:0] = [str(ROOT / 'test' / part) for part in PARTS]


def main() -> int:
    """Run the cases; return 1 if one ended badly."""
    parser = argparse.ArgumentParser(prog='python -m test.faults', description=__doc__)
    parser.add_argument('--cases', type=int, default=1000, help='number of mutations')
    parser.add_argument('--first', type=int, default=0, help='number of the first one')
    parser.add_argument('--seed', type=int, default=14)
    parser.add_argument('--only', default='', help='kind of file, or name of a hostile file')
    given = parser.parse_args()
    from faults.corpus import make_corpus
    from faults.hostile import HOSTILE
    from faults.runner import GOOD, kind_of, run_cases

    every = [*HOSTILE, *range(given.first, given.first + given.cases)]
    cases = [c for c in every if given.only in (kind_of(given.seed, c), '') or
             (isinstance(c, str) and given.only in c)]  # fmt: skip
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    counts: Counter[tuple[str, str]] = Counter()
    slowest: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory(prefix='faults_') as folder:
        corpus = Path(folder) / 'corpus'
        corpus.mkdir()
        make_corpus(corpus)
        try:
            for outcome in run_cases(cases, corpus, Path(folder), given.seed):
                kind, word = kind_of(given.seed, outcome.case), outcome.word
                counts[kind, word] += 1
                slowest = sorted([*slowest, (outcome.seconds, str(outcome.case))])[-5:]
                if word not in GOOD:
                    line = f'{outcome.case} ({kind}): {word}: {outcome.command}: {outcome.text}'
                    print(line, flush=True)
        except KeyboardInterrupt:
            print('interrupted; the numbers are those of the cases until then')
    words = [*GOOD, *sorted({word for _, word in counts} - set(GOOD))]
    print(f'{"kind":<18}' + ''.join(f'{word:>12}' for word in words))
    for kind in dict.fromkeys(kind for kind, _ in counts):
        print(f'{kind:<18}' + ''.join(f'{counts[kind, word]:>12}' for word in words))
    print('slowest: ' + ', '.join(f'{case} {seconds:.1f} s' for seconds, case in slowest))
    return int(words != [*GOOD])


if __name__ == '__main__':
    sys.exit(main())
