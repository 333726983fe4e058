# SPDX-License-Identifier: Apache-2.0
"""Settings of every test run; read before any test module imports numpy."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# On matrices of this size OpenBLAS's threads gain nothing, and where other processes share the
# cores they wait for each other: a factorisation of 0.2 s was seen to take 4 s.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')


@pytest.fixture(autouse=True)
def usual_priority() -> Iterator[None]:
    """Take back the real-time priority that some nodes give to the process that creates them."""
    yield
    if os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
