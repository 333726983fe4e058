# SPDX-License-Identifier: Apache-2.0
"""Run of a command beside busy processes: `python3 -m tools.under_load 8 make test`."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.descendants import Interrupted, run


def run_under_load(count: int, command: Sequence[str]) -> int:
    """Run a command beside `count` processes that compute all the time; return its exit code."""
    busy = [multiprocessing.Process(target=compute, daemon=True) for _ in range(count)]
    for process in busy:
        process.start()
    try:
        return run(command, Path.cwd())
    finally:
        for process in busy:
            process.kill()
            process.join()


def compute() -> None:
    """Compute until the process is killed."""
    while True:
        sum(range(1000))


if __name__ == '__main__':
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():
        sys.exit('usage: python3 -m tools.under_load PROCESSES COMMAND...')
    try:
        sys.exit(run_under_load(int(sys.argv[1]), sys.argv[2:]))
    except Interrupted as interrupted:
        sys.exit(f'robodyn: interrupted by {interrupted}')
