# SPDX-License-Identifier: Apache-2.0
"""Folder of the controller plugin; tests that need it are skipped if it was not built."""

import os
from pathlib import Path

import pytest


def prefix() -> Path:
    """Installation of this package, as ROS finds it."""
    index = pytest.importorskip('ament_index_python', reason='there is no ROS installation')
    try:
        return Path(index.get_package_prefix('robodyn_ros'))
    except LookupError:
        pytest.skip('robodyn_ros is not installed in this ROS environment')


def program(name: str) -> str:
    """A program that is built with the plugin; ROBODYN_LAW_CHECK may say where law_check is."""
    given = os.environ.get('ROBODYN_LAW_CHECK')
    folder = Path(given).parent if given else prefix() / 'lib/robodyn_ros'
    if not (folder / name).exists():
        pytest.skip(
            'the controller plugin was not built: controller_interface, pluginlib or the C++ of '
            'Pinocchio were not found'
        )
    return str(folder / name)


def law_check() -> str:
    """Program that runs the plugin's law over references."""
    return program('law_check')
