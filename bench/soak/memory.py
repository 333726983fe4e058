# SPDX-License-Identifier: Apache-2.0
"""Memory of the processes of a soak."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

SETTLED = 30.0
"""Time after the start of a process in which its memory may grow, in [s]."""
WHILE = 120.0
"""Shortest further time from which a growth is computed, in [s]."""
MB = 1e6
PAGE = 4096


class Memory:
    """Resident memory of each process, once a second."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell
        self._rows: dict[tuple[str, int], list[tuple[float, float]]] = {}

    def look(self) -> None:
        """Note the memory of each process that runs."""
        for name, process in self._cell.processes.items():
            try:
                pages = int(Path(f'/proc/{process.pid}/statm').read_text().split()[1])
            except (OSError, IndexError):
                continue
            if pages:
                row = (time.monotonic(), PAGE * pages / MB)
                self._rows.setdefault((name, process.pid), []).append(row)

    def growth(self) -> dict[str, dict[str, float]]:
        """Return largest memory [MB] and growth [MB/h] of the processes of each node.

        The growth is that of all processes that lived long enough, over all their time.
        """
        found: dict[str, dict[str, float]] = {}
        for name in self._cell.processes:
            rows = [np.array(r) for (node, _), r in self._rows.items() if node == name]
            settled = [r[r[:, 0] > r[0, 0] + SETTLED] for r in rows]
            long = [r for r in settled if len(r) and r[-1, 0] - r[0, 0] > WHILE]
            grown = sum(float(np.median(r[-10:, 1]) - np.median(r[:10, 1])) for r in long)
            hours = sum(float(r[-1, 0] - r[0, 0]) for r in long) / 3600.0
            found[name] = {
                'largest [MB]': round(max((float(r[:, 1].max()) for r in rows), default=0.0), 1),
                'growth [MB/h]': round(grown / hours, 2) if hours else float('nan'),
                'observed [h]': round(hours, 3),
                'processes': len(rows),
            }
        return found
