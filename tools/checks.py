"""What has to be on the system before anything can be built, and the package that brings it."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from common import ROOT, Problem

OLD_DISTRIBUTIONS = ('foxy', 'galactic', 'humble', 'iron')


def system(*, wheels: bool) -> None:
    """Check the system, for ROS 2 from wheels or for one that is sourced.

    Raises:
        Problem: naming what is missing and the Debian/Ubuntu package that brings it.
    """
    check_place()
    check_python(wheels=wheels)
    check_compiler()
    if not wheels:
        check_ros()


def check_place() -> None:
    """Refuse folders that the ROS tools cannot handle."""
    if bad := sorted(set(str(ROOT)) & set(' \t:;$"\'')):
        raise Problem(
            f'the folder {str(ROOT)!r} has {" ".join(map(repr, bad))} in its name, which the ROS 2 build '
            'tools cannot handle: move the checkout to another folder'
        )


def check_python(*, wheels: bool) -> None:
    """Check version, machine, venv and headers of the Python in use."""
    version = f'{sys.version_info.major}.{sys.version_info.minor}'
    if sys.version_info < (3, 10) or (wheels and sys.version_info >= (3, 15)):
        raise Problem(
            f'{sys.executable} is Python {version}, but 3.10 to 3.14 is needed: '
            'choose another one with make build PYTHON=/path/to/python3.12'
        )
    if wheels and (sys.platform, platform.machine()) != ('linux', 'x86_64'):
        raise Problem(
            f'ROS 2 wheels exist for Linux on x86_64 only, this is {sys.platform} on '
            f'{platform.machine()}: install ROS 2 and source its setup.bash first'
        )
    if importlib.util.find_spec('ensurepip') is None or importlib.util.find_spec('venv') is None:
        raise Problem(
            f'{sys.executable} cannot make virtual environments: '
            f'sudo apt install python{version}-venv'
        )
    if not Path(include_folder(), 'Python.h').exists():
        raise Problem(
            f'the headers of Python {version} are missing ({include_folder()}/Python.h): '
            f'sudo apt install python{version}-dev'
        )


def include_folder() -> str:
    """Return the folder of Python.h."""
    return sysconfig.get_path('include', vars={'installed_base': sys.base_prefix})


def check_compiler() -> None:
    """Check that a C and a C++ compiler are there."""
    for variable, names in {'CC': ('cc', 'gcc', 'clang'), 'CXX': ('c++', 'g++', 'clang++')}.items():
        chosen = os.environ.get(variable, '').split()
        if not any(shutil.which(name) for name in chosen[:1] or names):
            what = f'{variable}={chosen[0]}' if chosen else f'none of {", ".join(names)}'
            raise Problem(
                f'no {"C++" if variable == "CXX" else "C"} compiler ({what} found): '
                'sudo apt install build-essential'
            )


def check_ros() -> None:
    """Check that the sourced ROS 2 is new enough and belongs to this Python."""
    distribution = os.environ.get('ROS_DISTRO', '')
    if distribution in OLD_DISTRIBUTIONS:
        raise Problem(
            f'ROS 2 {distribution} is sourced, but Jazzy or newer is needed: source a newer one, '
            'or open a shell without ROS 2 to use the wheels from PyPI'
        )
    command = [sys.executable, '-c', 'import rclpy']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ['no reason given'])[-1]
        raise Problem(
            f'a ROS 2 is sourced, but {sys.executable} cannot import rclpy ({reason}): choose its '
            'Python with make build PYTHON=/usr/bin/python3, or open a shell without ROS 2'
        )


def explain_pip(log: Path) -> str:
    """Return one sentence that says why pip failed."""
    lines = log.read_text(errors='replace').splitlines()
    text = '\n'.join(lines)
    if 'No space left' in text:
        return f'no space left on the disk of {ROOT}: about 1.5 GB are needed'
    network = ('NewConnectionError', 'NameResolutionError', 'ConnectTimeout', 'ProxyError')
    if any(word in text for word in network):
        return f'cannot reach the Python package index, is this machine offline? Details: {log}'
    errors = [line for line in lines if line.startswith('ERROR')] or lines or ['no output']
    return f'pip failed: {errors[0].removeprefix("ERROR: ")}. Details: {log}'
