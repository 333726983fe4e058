# SPDX-License-Identifier: Apache-2.0
"""Damaged files end in a sentence, and hostile messages end no node; see `README.md`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*words):
    done = subprocess.run(
        [sys.executable, '-m', *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f'{done.stdout[-4000:]}\n{done.stderr[-2000:]}'


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_file_ends_in_a_sentence():
    """Hostile files and mutations in one process: its valid files and imports take 12 s of CPU."""
    run('test.faults', '--cases', '2000')


@pytest.mark.ros
def test_no_message_ends_a_node_or_makes_a_torque_that_breaks_a_limit():
    pytest.importorskip('rclpy')
    run('test.faults.nodes', '--messages', '300')
