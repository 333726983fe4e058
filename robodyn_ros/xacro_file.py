# SPDX-License-Identifier: Apache-2.0
"""Xacro files as URDF text, by the program xacro of the user's ROS 2.

Arguments may follow the file, as on its command line: `ur.urdf.xacro ur_type:=ur10e name:=ur`.

Xacro evaluates expressions of a file as Python. Therefore only files are expanded that the user
named on a command line, in a robot file or in a parameter at the start, never those of a request.
"""

from __future__ import annotations

import atexit
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from robodyn_ros.bounds import TEXT, XACRO_MEMORY, check_bound, read_text
from robodyn_ros.errors import ConfigError

_NAMED = re.compile(r'(.*?\.xacro)((?:\s+\w+:=\S*)*)\s*')


def is_xacro(path: str) -> bool:
    """Return True if a path is that of a xacro file, by its name; arguments may follow."""
    return _NAMED.fullmatch(path) is not None


def locate_file(path: str, locate: Callable[[str], object]) -> str:
    """Return a path with its file located, followed by the arguments of a xacro file."""
    match = _NAMED.fullmatch(path)
    return f'{locate(match[1])}{match[2]}' if match else str(locate(path))


def urdf_text(path: str) -> str:
    """Return the text of a URDF or xacro file.

    :raises OSError: the URDF cannot be read, or is too large
    :raises UnicodeDecodeError: it is not UTF-8
    :raises ConfigError: as `expand_xacro`
    """
    return expand_xacro(path) if is_xacro(path) else read_text(path)


def expand_xacro(path: str, *, patience: float = 30.0) -> str:
    """Return the URDF text of a xacro file; arguments that do not follow it have their defaults.

    :param patience: longest time of the expansion, in [s]
    :raises ConfigError: xacro is not installed, fails, takes too long or too much memory,
        or its text is too large
    """
    program = shutil.which('xacro')
    if program is None:
        raise ConfigError(
            f'{path} is a xacro file, but the program xacro is not installed: sudo apt install '
            f'ros-$ROS_DISTRO-xacro, or expand it elsewhere (xacro robot.urdf.xacro > robot.urdf)'
        )
    # the shell sets the limits: a function between fork and exec can block where threads run
    limits = f'ulimit -v {XACRO_MEMORY.most // 1024}; ulimit -f {TEXT.most // 512 + 1}; exec "$@"'
    words = ['/bin/sh', '-c', limits, 'sh', program, *_words(path)]
    with _text_file() as out, _text_file() as err:
        try:
            done = subprocess.run(words, stdout=out, stderr=err, timeout=patience, check=False)
        except subprocess.TimeoutExpired as error:
            raise ConfigError(f'{path}: xacro did not end within {patience:g} s') from error
        out.seek(0)
        err.seek(0)
        text, said = out.read(), err.read()
    if done.returncode:
        lines = (said.strip() or 'no reason given').splitlines()
        # the lines after this one name files
        reason = next((line for line in lines if line.startswith('error:')), lines[-1])
        raise ConfigError(
            f'{path}: xacro failed: {reason.removeprefix("error:").strip():.300}. Arguments '
            'follow the file: FILE.xacro NAME:=VALUE'
        )
    check_bound(TEXT, len(text), path)
    return text


def _text_file() -> IO[str]:
    """Return a temporary file for the output of a program; unlike a pipe, its size is bounded."""
    return tempfile.TemporaryFile('w+', encoding='utf-8', errors='replace')


def _words(path: str) -> list[str]:
    match = _NAMED.fullmatch(path)
    return [match[1], *match[2].split()] if match else [path]


def urdf_file(path: str) -> str:
    """Return the path of a URDF, for a xacro file that of a temporary file with its text.

    The file is removed when the process ends. Meshes with relative paths are not found there.

    :raises ConfigError: as `expand_xacro`
    """
    if not is_xacro(path):
        return path
    text = expand_xacro(path)
    folder = tempfile.mkdtemp(prefix='robodyn_xacro_')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(
        folder, Path(_words(path)[0]).name.removesuffix('.xacro').removesuffix('.urdf') + '.urdf'
    )
    file.write_text(text, encoding='utf-8')
    return str(file)
