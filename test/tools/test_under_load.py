# SPDX-License-Identifier: Apache-2.0
"""A command runs beside busy processes, which end with it."""

from __future__ import annotations

import os
import subprocess
import sys

from tools.common import ROOT
from tools.descendants import descendants

COUNT = """
import os, time
from tools.descendants import descendants
time.sleep(0.2)
busy = [each for each in descendants(os.getppid()) if each != os.getpid()]
raise SystemExit(len(busy))
"""


def test_as_many_processes_are_busy_as_asked_for() -> None:
    words = [sys.executable, '-m', 'tools.under_load', '3', sys.executable, '-c', COUNT]
    before = descendants(os.getpid())
    done = subprocess.run(words, cwd=ROOT, check=False, timeout=60.0)
    assert done.returncode == 3 and descendants(os.getpid()) == before


def test_a_wrong_use_is_one_sentence() -> None:
    words = [sys.executable, '-m', 'tools.under_load', 'make']
    done = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith('usage: ')
