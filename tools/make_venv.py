#!/usr/bin/env python3
"""Make .venv: ROS 2 from wheels, or the missing Python packages on top of a sourced ROS 2.

Run by `make build` with the Python the environment shall have. Quick when nothing changed: a
stamp, written last, says what the environment was made from; without it, it is made anew.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

import checks
from common import ROOT, VENV, Problem, locked, main_guard, note, sourced_ros

REQUIREMENTS = ROOT / 'requirements'
STAMP = VENV / 'complete'
ROS_PREFIX = VENV / 'ros_prefix'
PIP_LOG = ROOT / 'log' / 'pip.log'

MODULES = {'pin': 'pinocchio', 'PyYAML': 'yaml', 'pytest-timeout': 'pytest_timeout'}
MODULES |= {'pytest-xdist': 'xdist', 'types-PyYAML': '', 'colcon-core': 'colcon_core'}
"""Import names where they differ from the package's; empty: nothing to import."""


def main() -> None:
    """Make the environment, unless the one that exists is up to date."""
    ros = sourced_ros() or remembered_ros()
    wanted = fingerprint(ros)
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    checks.system(wheels=ros is None)
    start = time.monotonic()
    note(f'making {VENV} on the ROS 2 in {ros}' if ros else f'making {VENV} with ROS 2 wheels')
    STAMP.unlink(missing_ok=True)
    create(ros)
    if ros:
        install_missing()
        ROS_PREFIX.write_text(f'{ros}\n')
    else:
        install_lock()
        repair_cmake_exports()
    STAMP.write_text(wanted)
    note(f'environment ready in {time.monotonic() - start:.0f} s')


def remembered_ros() -> Path | None:
    """Return the ROS 2 the environment was made on, so that a new shell need not source it."""
    if not ROS_PREFIX.exists():
        return None
    prefix = Path(ROS_PREFIX.read_text().strip())
    return prefix if (prefix / 'setup.bash').exists() else None


def fingerprint(ros: Path | None) -> str:
    """Return what the environment depends on: the pins, the Python, the place, the ROS 2."""
    digest = hashlib.sha256(f'{sys.version} {sys.base_prefix} {VENV} {ros}'.encode())
    for file in [*sorted(REQUIREMENTS.iterdir()), Path(__file__)]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def create(ros: Path | None) -> None:
    """Make an empty virtual environment."""
    if VENV.exists():
        shutil.rmtree(VENV)
    venv.create(VENV, with_pip=True, symlinks=True, system_site_packages=ros is not None)
    (VENV / 'COLCON_IGNORE').touch()
    (VENV / 'local_setup.sh').touch()  # without it, colcon warns that this is no ROS prefix


def install_lock() -> None:
    """Install every pinned package; the lock is complete, so pip need not resolve anything."""
    pip('--no-deps', '--only-binary', ':all:', '--no-binary', 'empy', '-r', str(REQUIREMENTS / 'lock.txt'))


def install_missing() -> None:
    """Install what the sourced ROS 2 and its system do not have, and leave what they have."""
    names = [name for file in ('core', 'dev', 'build') for name in read_names(file)]
    missing = [name for name in names if not has_module(name)]
    if missing:
        held = VENV / 'constraints.txt'
        held.write_text(''.join(f'{line}\n' for line in constraints()))
        pip('-c', str(held), *missing)


def read_names(name: str) -> list[str]:
    """Return the package names of a requirements/*.in file."""
    lines = (REQUIREMENTS / f'{name}.in').read_text().splitlines()
    return [line for line in lines if line and not line.startswith('#')]


def has_module(name: str) -> bool:
    """Tell whether the environment can already use a package or its command."""
    module = MODULES.get(name, name.replace('-', '_').lower())
    if not module or shutil.which(name):
        return not module or True
    command = [VENV / 'bin' / 'python', '-c', f'import {module}']
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def constraints() -> list[str]:
    """Return pins that keep the system's packages and take the lock's for all others."""
    held = {d.metadata['Name'].lower(): d.version for d in importlib.metadata.distributions()}
    lines = (REQUIREMENTS / 'lock.txt').read_text().splitlines()
    pins = [line for line in lines if not line.startswith('#')]
    own = [line for line in pins if line.partition('==')[0] not in held]
    return own + [f'{name}=={held[name]}' for name in ('numpy', 'scipy') if name in held]


def pip(*arguments: str) -> None:
    """Run pip install quietly; its words go to log/pip.log."""
    note('downloading and installing Python packages (the first time takes a minute or two) ...')
    PIP_LOG.parent.mkdir(exist_ok=True)
    command = [str(VENV / 'bin' / 'python'), '-m', 'pip', 'install', '--no-compile', '--no-input']
    command += ['--disable-pip-version-check', '--progress-bar', 'off', '--prefer-binary']
    with PIP_LOG.open('w') as log:
        done = subprocess.run([*command, *arguments], stdout=log, stderr=log, check=False)
    if done.returncode:
        raise Problem(checks.explain_pip(PIP_LOG))


def repair_cmake_exports() -> None:
    """Replace the wheel builder's Python paths in the CMake exports by this environment's."""
    tag = f'cp{sys.version_info.major}{sys.version_info.minor}'
    builder = f'/opt/python/{tag}-{tag}'
    python = f'python{sys.version_info.major}.{sys.version_info.minor}'
    paths = {f'{builder}/include/{python}': checks.include_folder(), builder: str(VENV)}
    for file in (VENV / 'share').rglob('*.cmake'):
        text = file.read_text(encoding='utf-8')
        if builder in text:
            for old, new in paths.items():
                text = text.replace(old, new)
            file.write_text(text, encoding='utf-8')


if __name__ == '__main__':
    with main_guard(), locked():
        main()
