# SPDX-License-Identifier: Apache-2.0
import gc
import time
from collections.abc import Iterator

import pytest


@pytest.fixture
def clock(monkeypatch):
    """The steady time in [s], as a list with one number that a test sets; sleeping advances it."""
    now = [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: now[0])
    monkeypatch.setattr(time, 'sleep', lambda wait: now.__setitem__(0, now[0] + wait))
    return now


@pytest.fixture(autouse=True, scope='module')
def collected() -> Iterator[None]:
    """Let the DDS participants of a module end with it, see `ros_client.joined`."""
    yield
    gc.collect()
