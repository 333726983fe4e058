# SPDX-License-Identifier: Apache-2.0
"""Programs of the controller plugin; tests that need them are skipped if it was not built."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest


def prefix() -> Path:
    """Installation of this package, as ROS finds it."""
    index = pytest.importorskip('ament_index_python', reason='there is no ROS installation')
    try:
        return Path(index.get_package_prefix('robodyn_ros'))
    except LookupError:
        pytest.skip('robodyn_ros is not installed in this ROS environment')


def law_check(folder: str = '') -> Path:
    """Return the path of law_check; ROBODYN_LAW_CHECK may say where it is.

    :param folder: 'sanitized': the one that was built with sanitizers
    """
    given = os.environ.get('ROBODYN_LAW_CHECK')
    path = (Path(given).parent if given else prefix() / 'lib/robodyn_ros') / folder / 'law_check'
    if not path.exists():
        pytest.skip(
            'the plugin was built without ROBODYN_SANITIZERS'
            if folder
            else 'the controller plugin was not built: controller_interface, pluginlib or the C++ '
            'of Pinocchio were not found'
        )
    return path


def run_check(
    mode: str, *words: Any, data: bytes = b'', folder: str = '', **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run law_check in a mode, with `data` as input."""
    if folder:  # urdfdom itself leaks 1 kB for links in a ring: its joints hold each other
        options['env'] = {**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'}
    command = [str(law_check(folder)), mode, *map(str, words)]
    return subprocess.run(command, input=data, capture_output=True, timeout=300, **options)


def read_results(mode: str, files: Sequence[Any], **options: Any) -> list[tuple[str, int]]:
    """Return 'used' and the number of joints of each file, or why the plugin refuses it and 0.

    :param mode: results or possible
    """
    done = run_check(mode, *files, **options)
    said = done.stdout.decode(errors='replace').splitlines()
    last = files[min(len(said), len(files) - 1)]
    assert done.returncode == 0, f'{last}: {done.stderr.decode()[-3000:]}'
    assert len(said) == len(files)  # a line for each: no sentence has two
    return [('used', int(s.split()[1])) if s.startswith('used ') else (s, 0) for s in said]


def use_results(mode: str, files: Sequence[Any]) -> list[str]:
    """Return 'used' for each file, or why the plugin refuses it."""
    return [said for said, _ in read_results(mode, files)]
