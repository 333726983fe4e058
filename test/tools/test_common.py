# SPDX-License-Identifier: Apache-2.0
"""Which ROS 2 counts as sourced, how errors are told, and that builds wait for each other."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tools import common


def ros(folder: Path) -> str:
    (folder / common.RCLPY).parent.mkdir(parents=True)
    (folder / common.RCLPY).touch()
    return str(folder)


def test_sourced_ros_is_the_first_prefix_with_rclpy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}/overlay:{ros(tmp_path / "jazzy")}')
    assert common.find_sourced_ros() == tmp_path / 'jazzy'


def test_own_environment_is_not_a_sourced_ros(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(common, 'ROOT', tmp_path)
    monkeypatch.setenv('AMENT_PREFIX_PATH', ros(tmp_path / '.venv'))
    assert common.find_sourced_ros() is None
    monkeypatch.delenv('AMENT_PREFIX_PATH')
    assert common.find_sourced_ros() is None


def test_second_build_waits_for_the_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, 'ROOT', tmp_path)
    script = (
        'import fcntl, sys\n'
        f'file = open({str(tmp_path / ".build.lock")!r}, "w")\n'
        'fcntl.flock(file, fcntl.LOCK_EX); print("held", flush=True); sys.stdin.read()'
    )
    with subprocess.Popen(
        [sys.executable, '-c', script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout and other.stdin
        assert other.stdout.readline() == 'held\n'
        release = threading.Timer(0.3, other.stdin.close)
        release.start()
        with common.hold_lock():
            assert other.stdin.closed, 'the other holds the lock until its input ends'
        release.join()
    assert 'waiting for another build' in capfd.readouterr().out
