# SPDX-License-Identifier: Apache-2.0
"""Hostile messages to all nodes; see `__main__.py`."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy')
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.ros
@pytest.mark.timeout(400)
def test_no_message_ends_a_node_or_makes_a_torque_that_breaks_a_limit():
    done = subprocess.run(
        [sys.executable, '-m', 'test.faults.nodes', '--messages', '300'],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f'{done.stdout[-4000:]}\n{done.stderr[-2000:]}'
