# SPDX-License-Identifier: Apache-2.0
"""Requirements for pip on top of a ROS 2, and the reading of requirement files."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import packages


@pytest.fixture
def requirements(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    (tmp_path / 'core.in').write_text('# numbers\nnumpy\npin\nPyYAML\nmujoco>=3.17  # newer\n')
    (tmp_path / 'dev.in').write_text('ruff\n')
    (tmp_path / 'build.in').write_text('cmake\ncolcon-core\ncolcon-ros\n')
    (tmp_path / 'lock.txt').write_text(
        'pip==26.3 \\\n    --hash=sha256:a \\\n    --hash=sha256:b\n    # via build.in\n'
        'numpy==2.4.6\nmujoco==4.0.0 ; python_version >= "3.11" \\\n    --hash=sha256:c\n'
        'pyyaml==6.0.3\npin==4.1.0\nruff==0.17.5\ncontourpy==1.4.0\n'
    )
    monkeypatch.setattr(packages, 'REQUIREMENTS', tmp_path)
    monkeypatch.setattr(packages, 'VENV', tmp_path)
    return tmp_path


def answer(monkeypatch: pytest.MonkeyPatch, *, system: dict[str, str], pinocchio: bool) -> None:
    """Let the environment's Python tell of a system with these packages."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        if arguments[1] == 'import pinocchio':
            return subprocess.CompletedProcess(arguments, 0 if pinocchio else 1, '', '')
        return subprocess.CompletedProcess(arguments, 0, json.dumps(system), '')

    monkeypatch.setattr(packages, 'run_python', run)


def test_system_packages_are_neither_pinned_nor_replaced(
    monkeypatch: pytest.MonkeyPatch, requirements: Path
) -> None:
    answer(monkeypatch, system={'numpy': '1.26.4', 'PyYAML': '5.4'}, pinocchio=True)
    found = packages.constraints({'numpy', 'pyyaml', 'mujoco', 'ruff'})
    assert found == [
        'mujoco==4.0.0 ; python_version >= "3.11"',
        'ruff==0.17.5',
        'numpy==1.26.4',
    ]


def test_only_what_pip_may_bring_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, requirements: Path
) -> None:
    asked: list[tuple[str, ...]] = []
    answer(monkeypatch, system={}, pinocchio=True)
    monkeypatch.setattr(packages, 'pip', lambda *arguments: asked.append(arguments))
    monkeypatch.setattr(shutil, 'which', lambda name: '/usr/bin/it' if name == 'colcon' else None)
    packages.install_missing()
    assert asked[0] == ('--require-hashes', '-r', str(requirements / 'pip.txt'))
    pinned = (requirements / 'pip.txt').read_text().split()
    assert pinned == ['pip==26.3', '--hash=sha256:a', '--hash=sha256:b']
    assert asked[1][2:] == ('numpy', 'PyYAML', 'mujoco>=3.17', 'ruff', 'cmake')
