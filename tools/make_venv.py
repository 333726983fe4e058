# SPDX-License-Identifier: Apache-2.0
"""Make .venv: ROS 2 from wheels, or additions to a sourced ROS 2.

Run by `make build` with the Python of the environment. A stamp, written last, identifies the
sources of the environment. If it is missing or differs, the environment is made again.
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
from tools.common import VENV, Problem, find_sourced_ros, hold_lock, note, one_line_errors

STAMP = VENV / 'complete'
ROS_SETUP = VENV / 'ros_setup'
"""File with the path of setup.bash of the ROS 2 that the environment uses."""

THIS_PYTHON = f'{sys.base_prefix} {platform.python_version()}'
LAYOUT = 1
"""Version of the environment; increase it after changes that invalidate existing environments."""


def main() -> None:
    """Make the environment, unless the existing one is up to date."""
    ros = setup_folder(find_sourced_ros()) or read_ros_of_environment()
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
    """Return True if the environment exists and is up to date.

    Its Python may differ from the present one, unless the user chose the present one.
    """
    if not STAMP.exists() or not (VENV / 'bin' / 'python3').exists():
        return False
    made_from, python = STAMP.read_text().splitlines()
    if '--this-python' in sys.argv:
        python = THIS_PYTHON
    return made_from == fingerprint(ros, python)


def setup_folder(prefix: Path | None) -> Path | None:
    """Return the folder with setup.bash for a ROS 2 prefix.

    In a workspace with a prefix per package, it is the parent of the prefix of rclpy.
    """
    if prefix and not (prefix / 'setup.bash').exists() and (prefix.parent / 'setup.bash').exists():
        return prefix.parent
    return prefix


def read_ros_of_environment() -> Path | None:
    """Return the ROS 2 of the environment, which a new shell need not source again."""
    if not ROS_SETUP.exists():
        return None
    folder = Path(ROS_SETUP.read_text().strip())
    return folder if (folder / 'setup.bash').exists() else None


def fingerprint(ros: Path | None, python: str) -> str:
    """Return a hash of the pins, the Python, the place and the ROS 2 of the environment."""
    digest = hashlib.sha256(f'{LAYOUT} {python} {VENV} {ros}'.encode())
    for file in sorted(packages.REQUIREMENTS.iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def create_empty(*, system_packages: bool) -> None:
    """Make an empty virtual environment; an existing one is removed."""
    import venv  # a separate package in some distributions: checked before

    if VENV.is_symlink():
        raise Problem(
            f'{VENV} is a link to {VENV.resolve()}, which is not replaced: remove the link'
        )
    if VENV.exists():
        STAMP.unlink(missing_ok=True)
        shutil.rmtree(VENV)
    venv.create(VENV, with_pip=True, symlinks=True, system_site_packages=system_packages)
    (VENV / 'COLCON_IGNORE').touch()
    (VENV / 'local_setup.sh').touch()  # otherwise colcon warns that this is not a prefix of ROS 2


def repair_cmake_exports() -> None:
    """Replace the Python of the wheel builder in CMake exports by that of the environment."""
    tag = f'cp{sys.version_info.major}{sys.version_info.minor}'
    builder = f'/opt/python/{tag}-{tag}'
    headers = f'{builder}/include/python{checks.PYTHON}'
    for file in (VENV / 'share').rglob('*.cmake'):
        text = file.read_text(encoding='utf-8')
        if builder in text:
            text = text.replace(headers, checks.include_folder()).replace(builder, str(VENV))
            file.write_text(text, encoding='utf-8')


if __name__ == '__main__':
    if sys.prefix != sys.base_prefix:  # not from the environment that may be removed
        base = getattr(sys, '_base_executable')  # noqa: B009 (not in Python's documentation)
        os.execv(base, [base, '-m', 'tools.make_venv', *sys.argv[1:]])
    with one_line_errors():
        checks.check_folder()
        with hold_lock():
            main()
