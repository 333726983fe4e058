# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of launch files. They import launch only when a test asks for them."""

from pathlib import Path

import pytest


@pytest.fixture(scope='session')
def prefix():
    """Folder into which the package was installed."""
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix

    try:
        return Path(get_package_prefix('robodyn_ros'))
    except PackageNotFoundError:
        pytest.skip('robodyn_ros is not installed: source the install folder')


@pytest.fixture
def nodes(prefix, monkeypatch):
    """Run a launch file with arguments; gives what each node would be started with, by name."""
    from launch_files import recorded

    return recorded(monkeypatch)
