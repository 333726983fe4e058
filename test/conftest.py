# SPDX-License-Identifier: Apache-2.0
"""Settings of every test run; read before any test module imports numpy."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile('busy machine', deadline=None)
settings.load_profile('busy machine')
# On matrices of this size OpenBLAS's threads gain nothing, and where other processes share the
# cores they wait for each other: a factorisation of 0.2 s was seen to take 4 s.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

OF_ROS = re.compile(r'(rclpy|\w+_msgs|\w+_interfaces|robodyn_ros\.(msg|srv|action))(\.|$)')
"""Packages that are missing without ROS 2, or before `make build`."""


LONGEST = ('test/docs/test_tool_files_in_a_demo.py', 'test/nodes')
"""Tests that run first: no process computes alone at the end."""


class Module(pytest.Module):
    """Test module that is skipped if a package of ROS that it imports is missing."""

    def collect(self):
        """Import the module and collect its tests."""
        try:
            return super().collect()
        except self.CollectError as error:
            cause = error.__cause__
            if isinstance(cause, ModuleNotFoundError) and OF_ROS.match(cause.name or ''):
                pytest.skip(f'{cause.name} is not installed', allow_module_level=True)
            raise


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Module:
    """Collect each test module as `Module`."""
    return Module.from_parent(parent, path=module_path)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Move the longest tests to the front."""

    def rank(item: pytest.Item) -> int:
        path = item.path.relative_to(config.rootpath).as_posix()
        return next((k for k, start in enumerate(LONGEST) if path.startswith(start)), len(LONGEST))

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Keep the tests out of every later garbage collection: tests of nodes have hundreds."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def usual_priority() -> Iterator[None]:
    """Take back the real-time priority that some nodes give to the process that creates them."""
    yield
    if os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
