# SPDX-License-Identifier: Apache-2.0
"""Conditions of a complete environment, and its repairs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import checks, make_venv, packages


@pytest.fixture
def venv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment that looks finished, made by this Python from one requirement."""
    folder = tmp_path / '.venv'
    (folder / 'bin').mkdir(parents=True)
    (folder / 'bin' / 'python3').touch()
    (tmp_path / 'requirements').mkdir()
    (tmp_path / 'requirements' / 'lock.txt').write_text('numpy==2.4.6\n')
    monkeypatch.setattr(packages, 'REQUIREMENTS', tmp_path / 'requirements')
    monkeypatch.setattr(make_venv, 'VENV', folder)
    monkeypatch.setattr(make_venv, 'STAMP', folder / 'complete')
    monkeypatch.setattr(make_venv, 'ROS_SETUP', folder / 'ros_setup')
    monkeypatch.setattr(sys, 'argv', ['make_venv'])
    stamp(make_venv.THIS_PYTHON)
    return folder


def stamp(python: str, ros: Path | None = None) -> None:
    make_venv.STAMP.write_text(f'{make_venv.fingerprint(ros, python)}\n{python}\n')


@pytest.mark.parametrize('change', ['nothing', 'no stamp', 'no python', 'other pins', 'ROS 2'])
def test_an_environment_is_made_again_after_a_change(change: str, venv: Path) -> None:
    if change == 'no stamp':
        make_venv.STAMP.unlink()
    elif change == 'no python':
        (venv / 'bin' / 'python3').unlink()
    elif change == 'other pins':
        (packages.REQUIREMENTS / 'lock.txt').write_text('numpy==2.4.7\n')
    ros = Path('/opt/ros/jazzy') if change == 'ROS 2' else None
    assert make_venv.is_complete(ros) == (change == 'nothing')


def test_cmake_exports_name_this_python(venv: Path) -> None:
    tag = f'cp{sys.version_info.major}{sys.version_info.minor}'
    python = f'/opt/python/{tag}-{tag}'
    file = venv / 'share' / 'std_msgs' / 'cmake' / 'export.cmake'
    file.parent.mkdir(parents=True)
    file.write_text(
        f'"{python}/include/python{checks.PYTHON};'
        f'{python}/lib/python{checks.PYTHON}/site-packages/numpy/_core/include;/usr/include"'
    )
    make_venv.repair_cmake_exports()
    headers, numpy, other = file.read_text().strip('"').split(';')
    assert (Path(headers) / 'Python.h').exists()
    assert numpy == f'{venv}/lib/python{checks.PYTHON}/site-packages/numpy/_core/include'
    assert other == '/usr/include'
