# SPDX-License-Identifier: Apache-2.0
"""Xacro files as URDF text, by the program xacro of the user's ROS 2.

Xacro evaluates expressions of a file as Python. Therefore only files are expanded that the user
named on a command line, in a robot file or in a parameter at the start, never those of a request.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from pathlib import Path

from robodyn_ros.bounds import TEXT, check_bound
from robodyn_ros.errors import ConfigError


def is_xacro(path: str | Path) -> bool:
    """Return True if a path is that of a xacro file, by its name."""
    return str(path).endswith('.xacro')


def expanded_xacro(path: str | Path, *, patience: float = 30.0) -> str:
    """Return the URDF text of a xacro file with its default arguments.

    :param patience: longest time of the expansion, in [s]
    :raises ConfigError: xacro is not installed, fails, takes too long, or its text is too large
    """
    program = shutil.which('xacro')
    if program is None:
        raise ConfigError(
            f'{path} is a xacro file, but the program xacro is not installed: sudo apt install '
            f'ros-$ROS_DISTRO-xacro, or expand it elsewhere (xacro robot.urdf.xacro > robot.urdf)'
        )
    try:
        done = subprocess.run(
            [program, str(path)], capture_output=True, encoding='utf-8', errors='replace',
            timeout=patience, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f'{path}: xacro did not end within {patience:g} s') from error
    if done.returncode:
        reason = (done.stderr.strip() or 'no reason given').splitlines()[-1]
        raise ConfigError(f'{path}: xacro failed: {reason:.300}')
    check_bound(TEXT, len(done.stdout), str(path))
    return done.stdout


def urdf_file(path: str) -> str:
    """Return the path of a URDF, for a xacro file that of a temporary file with its text.

    The file is removed when the process ends. Meshes with relative paths are not found there.

    :raises ConfigError: as `expanded_xacro`
    """
    if not is_xacro(path):
        return path
    text = expanded_xacro(path)
    folder = tempfile.mkdtemp(prefix='robodyn_xacro_')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder, Path(path).name.removesuffix('.xacro').removesuffix('.urdf') + '.urdf')
    file.write_text(text, encoding='utf-8')
    return str(file)
