"""Make .venv: ROS 2 from wheels, or what a sourced ROS 2 lacks on top of it.

Run by `make build` with the Python the environment shall have. Quick when nothing changed: a
stamp, written last, says what the environment was made from; without it, it is made anew.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import time
from pathlib import Path

from tools import checks, packages
from tools.common import VENV, locked, note, one_line_errors, sourced_ros

STAMP = VENV / 'complete'
ROS_SETUP = VENV / 'ros_setup'
"""Names the folder with the setup.bash of the ROS 2 that the environment stands on."""

THIS_PYTHON = f'{sys.base_prefix} {platform.python_version()}'
LAYOUT = 1
"""Raised when this tool changes in a way that makes existing environments useless."""


def main() -> None:
    """Make the environment, unless the one that exists is up to date."""
    ros = setup_folder(sourced_ros()) or remembered_ros()
    if is_complete(ros):
        return
    checks.check_system(wheels=ros is None)
    start = time.monotonic()
    note(f'making {VENV} {f"on the ROS 2 in {ros}" if ros else "with ROS 2 from PyPI"}')
    create_empty(system_packages=ros is not None)
    note('downloading and installing Python packages (a minute or two, the first time) ...')
    if ros:
        packages.install_missing()
        ROS_SETUP.write_text(f'{ros}\n')
    else:
        packages.install_pinned()
        repair_cmake_exports()
    STAMP.write_text(f'{fingerprint(ros, THIS_PYTHON)}\n{THIS_PYTHON}\n')
    note(f'environment ready in {time.monotonic() - start:.0f} s')


def is_complete(ros: Path | None) -> bool:
    """Tell whether the environment stands and would be made just so again.

    Its Python may be another one than runs this, unless the user chose this one.
    """
    if not STAMP.exists() or not (VENV / 'bin' / 'python3').exists():
        return False
    made_from, python = STAMP.read_text().splitlines()
    if '--this-python' in sys.argv:
        python = THIS_PYTHON
    return made_from == fingerprint(ros, python)


def setup_folder(prefix: Path | None) -> Path | None:
    """Return the folder with the setup.bash that brings a ROS 2 prefix.

    In a workspace with a prefix per package, it is the parent of the one that holds rclpy.
    """
    if prefix and not (prefix / 'setup.bash').exists() and (prefix.parent / 'setup.bash').exists():
        return prefix.parent
    return prefix


def remembered_ros() -> Path | None:
    """Return the ROS 2 the environment was made on: a new shell need not source it again."""
    if not ROS_SETUP.exists():
        return None
    folder = Path(ROS_SETUP.read_text().strip())
    return folder if (folder / 'setup.bash').exists() else None


def fingerprint(ros: Path | None, python: str) -> str:
    """Return what the environment depends on: the pins, the Python, the place, the ROS 2."""
    digest = hashlib.sha256(f'{LAYOUT} {python} {VENV} {ros}'.encode())
    for file in sorted(packages.REQUIREMENTS.iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def create_empty(*, system_packages: bool) -> None:
    """Make an empty virtual environment in place of any that is there."""
    import venv  # some distributions package it apart: checked before

    if VENV.exists():
        STAMP.unlink(missing_ok=True)
        shutil.rmtree(VENV)
    venv.create(VENV, with_pip=True, symlinks=True, system_site_packages=system_packages)
    (VENV / 'COLCON_IGNORE').touch()
    (VENV / 'local_setup.sh').touch()  # or colcon warns that this is not a prefix of ROS 2


def repair_cmake_exports() -> None:
    """Replace the wheel builder's Python in the CMake exports by this environment's."""
    tag = f'cp{sys.version_info.major}{sys.version_info.minor}'
    builder = f'/opt/python/{tag}-{tag}'
    headers = f'{builder}/include/python{checks.PYTHON}'
    for file in (VENV / 'share').rglob('*.cmake'):
        text = file.read_text(encoding='utf-8')
        if builder in text:
            text = text.replace(headers, checks.include_folder()).replace(builder, str(VENV))
            file.write_text(text, encoding='utf-8')


if __name__ == '__main__':
    if sys.prefix != sys.base_prefix:  # never from the environment that this may replace
        base = getattr(sys, '_base_executable')  # noqa: B009 (not in Python's documentation)
        os.execv(base, [base, '-m', 'tools.make_venv', *sys.argv[1:]])
    with one_line_errors():
        checks.check_folder()
        with locked():
            main()
