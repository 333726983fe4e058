# SPDX-License-Identifier: Apache-2.0
"""What `update_probe` sees of a controller manager that it is preloaded into, and what it orders.

It is built with the plugin where ros2_control is one it knows; tests that need it are skipped
elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from controller_build import prefix

UPDATE = np.dtype([('microseconds', 'f4'), ('allocations', 'u4'), ('locks', 'u4'), ('kind', 'u4')])
KINDS = ('plugin', 'jtc')
HEAD = np.dtype([('records', 'u8'), ('clock', 'i8'), ('frozen', 'u8'), ('unused', 'u8')])


class UpdateProbe:
    """Shared memory between a test and the controller manager."""

    def __init__(self, file: Path) -> None:
        """Use a shared file; nothing is measured if the probe was not built."""
        self.file = file
        self._library = prefix() / 'lib/robodyn_ros/libupdate_probe.so'

    def environment(self) -> dict[str, str]:
        """Variables of the controller manager's process."""
        if not self._library.exists():
            return {}
        return {'LD_PRELOAD': str(self._library), 'ROBODYN_PROBE': str(self.file)}

    def _head(self) -> np.memmap:
        if not self.file.exists():
            pytest.skip('update_probe was not built: it does not know this ros2_control')
        return np.memmap(self.file, dtype=HEAD, mode='r+', shape=1)

    def updates(self, kind: str = 'plugin') -> np.ndarray:
        """All updates so far of one of KINDS."""
        count = int(self._head()['records'][0])
        rows = np.fromfile(self.file, dtype=UPDATE, count=count, offset=HEAD.itemsize)
        return rows[rows['kind'] == KINDS.index(kind)]

    def shift_clock(self, seconds: float) -> None:
        """Let the system clock jump, as an NTP client does when it sets it."""
        self._head()['clock'][0] += round(1e9 * seconds)

    def freeze(self, on: bool) -> None:
        """Let measured values stay as they are, as when the encoders' bus is gone."""
        self._head()['frozen'][0] = on
