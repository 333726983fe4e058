# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.pictures [NAME ...]`: make the pictures of the documentation.

Reports, motions and drawings; recordings are those of ROBODYN_DATA. The others come from
`bench/bench_contact.py`, `bench/bench_tracking.py` and `bench/bench_watch.py`.
"""

from __future__ import annotations

import argparse
import sys

from bench.pictures.drawings import DRAWINGS
from bench.pictures.pages import SECTIONS, draw
from bench.pictures.places import PICTURES

NAMES = (*SECTIONS, *DRAWINGS)
LARGEST = 150_000
"""Largest file, in bytes."""


def main() -> int:
    """Make all, or those that are named; return 1 if one is too large."""
    parser = argparse.ArgumentParser(prog='python -m bench.pictures', description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help=f'of {", ".join(NAMES)}')
    large = False
    for name in parser.parse_args().names or NAMES:
        path = PICTURES / f'{name}.png'
        if name in SECTIONS:
            draw(name, path)
        else:
            DRAWINGS[name](path)
        size = path.stat().st_size
        large = large or size > LARGEST
        print(f'{path.relative_to(PICTURES.parents[1])}: {size / 1000:.0f} kB', flush=True)
    return int(large)


if __name__ == '__main__':
    sys.exit(main())
