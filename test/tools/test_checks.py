# SPDX-License-Identifier: Apache-2.0
"""Refusals of each check, with the package to install."""

from __future__ import annotations

import importlib.util
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import checks
from tools.common import Problem


def test_folder_with_a_space_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, 'ROOT', Path('/home/me/my robots'))
    with pytest.raises(Problem, match="cannot handle ' ' in the path '/home/me/my robots'"):
        checks.check_folder()


@pytest.mark.parametrize(
    ('module', 'name', 'value', 'accepted', 'message'),
    [
        (sys, 'version_info', (3, 9, 2), None, r'3\.10 to 3\.14 is needed: .*PYTHON='),
        (sys, 'version_info', (3, 15, 0), False, r'3\.10 to 3\.14'),
        (platform, 'machine', lambda: 'aarch64', False, 'on aarch64: install ROS 2 and source'),
        (importlib.util, 'find_spec', lambda _: None, None, f'install python{checks.PYTHON}-venv'),
        (checks, 'include_folder', lambda: '/none', None, f'install python{checks.PYTHON}-dev'),
    ],
)
def test_an_unsuitable_python_is_refused(
    module: Any, name: str, value: Any, accepted: bool | None, message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Python and machines without wheels are accepted with a sourced ROS 2."""
    monkeypatch.setattr(module, name, value)
    for wheels in (False, True):
        if wheels is accepted:
            checks.check_python(wheels=wheels)
            continue
        with pytest.raises(Problem, match=message):
            checks.check_python(wheels=wheels)


@pytest.mark.parametrize(('there', 'missing'), [((), ' C compiler'), (('gcc',), r'C\+\+')])
def test_missing_compiler_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: tuple[str, ...], missing: str
) -> None:
    for name in there:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.delenv('CC', raising=False)
    monkeypatch.delenv('CXX', raising=False)
    with pytest.raises(Problem, match=f'{missing}.*sudo apt install build-essential'):
        checks.check_compilers()


def test_old_ros_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ROS_DISTRO', 'humble')
    with pytest.raises(Problem, match='ROS 2 humble is sourced, but Jazzy or newer is needed'):
        checks.check_ros()


def python_modules(monkeypatch: pytest.MonkeyPatch, folder: Path, **sources: str) -> None:
    """Let a fresh Python find these modules first, as a sourced ROS 2 would."""
    for name, source in sources.items():
        (folder / f'{name}.py').write_text(source)
    monkeypatch.setenv('PYTHONPATH', str(folder))
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')


def test_ros_of_another_python_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python_modules(monkeypatch, tmp_path, rclpy="raise ImportError('cp312 only. Read this.')")
    with pytest.raises(Problem, match=r'cannot import its rclpy \(.*cp312 only\): choose'):
        checks.check_ros()


@pytest.mark.parametrize('numpy', ['1.26.4', '2.3.0'])
def test_missing_pinocchio_is_refused_where_its_wheels_do_not_fit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, numpy: str
) -> None:
    missing = "raise ImportError('none')"
    python_modules(
        monkeypatch, tmp_path, rclpy='', pinocchio=missing, numpy=f'__version__ = "{numpy}"'
    )
    if numpy.startswith('2'):
        checks.check_ros()
        return
    with pytest.raises(Problem, match=r'numpy 1\.26\.4\): sudo apt install ros-jazzy-pinocchio'):
        checks.check_ros()


@pytest.mark.parametrize(
    ('said', 'expected'),
    [
        ("WARNING: Retrying after ... 'NewConnectionError(...)'\nERROR: none", 'offline'),
        ('OSError: [Errno 28] No space left on device', 'no space left'),
        ('WARNING: x\nERROR: no wheel for y.\nERROR: z', 'pip failed: no wheel for y. Details'),
        ('', 'pip failed: no reason given. Details'),
    ],
)
def test_pip_is_explained_in_a_sentence(tmp_path: Path, said: str, expected: str) -> None:
    log = tmp_path / 'pip.log'
    log.write_text(said)
    assert expected in checks.explain_pip(log)
    assert str(log) in checks.explain_pip(log)
