# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile files end in a sentence, in bounded processes; see `__main__.py`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_file_ends_in_a_sentence():
    """Hostile files and mutations in one process: its valid files and imports take 12 s of CPU."""
    done = subprocess.run(
        [sys.executable, '-m', 'test.faults', '--cases', '2000'],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f'{done.stdout[-4000:]}\n{done.stderr[-2000:]}'
