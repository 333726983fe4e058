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

from robodyn_ros.bounds import TEXT, XACRO_MEMORY, check_bound, read_text
from robodyn_ros.errors import ConfigError

_NAMED = re.compile(r'(.*?\.xacro)((?:\s+\w+:=\S*)*)\s*')


def is_xacro(path: str) -> bool:
    """Return True if a path is that of a xacro file, by its name; arguments may follow."""
    return _NAMED.fullmatch(path) is not None


def located(path: str, locate: Callable[[str], object]) -> str:
    """Return a path with its file located, followed by the arguments of a xacro file."""
    found = _NAMED.fullmatch(path)
    return f'{locate(found[1])}{found[2]}' if found else str(locate(path))


def urdf_text(path: str) -> str:
    """Return the text of a URDF or xacro file.

    :raises OSError: the URDF cannot be read, or is too large
    :raises UnicodeDecodeError: it is not UTF-8
    :raises ConfigError: as `expanded_xacro`
    """
    return expanded_xacro(path) if is_xacro(path) else read_text(path)


def expanded_xacro(path: str, *, patience: float = 30.0) -> str:
    """Return the URDF text of a xacro file; arguments that do not follow it have their defaults.

    :param patience: longest time of the expansion, in [s]
    :raises ConfigError: xacro is not installed, fails, takes too long or too much
        memory, or its text is too large
    """
    program = shutil.which('xacro')
    if program is None:
        raise ConfigError(
            f'{path} is a xacro file, but the program xacro is not installed: sudo apt install '
            f'ros-$ROS_DISTRO-xacro, or expand it elsewhere (xacro robot.urdf.xacro > robot.urdf)'
        )
    code, text, said = _output([program, *_words(path)], patience)
    if code is None:
        raise ConfigError(f'{path}: xacro did not end within {patience:g} s')
    if code:
        lines = (said.strip() or 'no reason given').splitlines()
        # the lines after this one name files
        reason = next((line for line in lines if line.startswith('error:')), lines[-1])
        raise ConfigError(
            f'{path}: xacro failed: {reason.removeprefix("error:").strip():.300}. Arguments '
            'follow the file: FILE.xacro NAME:=VALUE'
        )
    check_bound(TEXT, len(text), path)
    return text


def _output(words: list[str], patience: float) -> tuple[int | None, str, str]:
    """Run a program with bounds of its time, memory and output.

    :return: its code, stdout and stderr; code None: it did not end in time
    """
    # the shell sets the limits: a function between fork and exec can block where threads run
    bounds = {'v': XACRO_MEMORY.most // 1024, 'f': TEXT.most // 512 + 1}
    limits = ''.join(f'ulimit -{kind} {most} 2>/dev/null; ' for kind, most in bounds.items())
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            code: int | None = subprocess.run(
                ['/bin/sh', '-c', limits + 'exec "$@"', 'sh', *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=patience,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
        for file in (out, err):
            file.seek(0)
        texts = [file.read(TEXT.most + 1).decode('utf-8', 'replace') for file in (out, err)]
    return code, texts[0], texts[1]


def _words(path: str) -> list[str]:
    """Return file and arguments."""
    found = _NAMED.fullmatch(path)
    return [found[1], *found[2].split()] if found else [path]


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
    file = Path(
        folder, Path(_words(path)[0]).name.removesuffix('.xacro').removesuffix('.urdf') + '.urdf'
    )
    file.write_text(text, encoding='utf-8')
    return str(file)
