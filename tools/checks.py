# SPDX-License-Identifier: Apache-2.0
"""Requirements of the system for a build, and the packages that provide them."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tools.common import ROOT, Problem

OLD_DISTRIBUTIONS = ('foxy', 'galactic', 'humble', 'iron')
COMPILERS = {'CC': ('cc', 'gcc', 'clang'), 'CXX': ('c++', 'g++', 'clang++')}
UNUSABLE = ' \t:;$"\'#%\\'
"""Characters that separate or quote in make, CMake or path variables."""

PYTHON = f'{sys.version_info.major}.{sys.version_info.minor}'


def check_system(*, wheels: bool) -> None:
    """Check the system, for ROS 2 from wheels or for a sourced one.

    :raises Problem: a requirement is missing; the message names the Debian or Ubuntu package
    """
    check_folder()
    check_python(wheels=wheels)
    check_compilers()
    if not wheels:
        check_ros()


def check_folder() -> None:
    """Refuse folders that the build tools of ROS 2 cannot handle."""
    bad = [repr(character) for character in UNUSABLE if character in str(ROOT)]
    if bad:
        raise Problem(
            f'the build tools of ROS 2 cannot handle {", ".join(bad)} in the path {str(ROOT)!r}: '
            'move the checkout to a folder without it'
        )


def check_python(*, wheels: bool) -> None:
    """Check version, machine, venv and headers of the Python in use."""
    if sys.version_info < (3, 10) or (wheels and sys.version_info >= (3, 15)):
        raise Problem(
            f'{sys.executable} is Python {PYTHON}, but 3.10 to 3.14 is needed: '
            'choose one with make build PYTHON=python3.12'
        )
    if wheels and (sys.platform, platform.machine()) != ('linux', 'x86_64'):
        raise Problem(
            f'ROS 2 wheels exist for Linux on x86_64, but this is {sys.platform} on '
            f'{platform.machine()}: install ROS 2 and source its setup.bash first'
        )
    if any(importlib.util.find_spec(name) is None for name in ('ensurepip', 'venv')):
        raise Problem(
            f'{sys.executable} cannot make virtual environments: '
            f'sudo apt install python{PYTHON}-venv'
        )
    if not Path(include_folder(), 'Python.h').exists():
        raise Problem(
            f'the headers of Python {PYTHON} are missing, {include_folder()}/Python.h: '
            f'sudo apt install python{PYTHON}-dev'
        )


def include_folder() -> str:
    """Return the folder of Python.h."""
    base = {'installed_base': sys.base_prefix}
    return sysconfig.get_path('include', scheme='posix_prefix', vars=base)


def check_compilers() -> None:
    """Check that there is a C and a C++ compiler."""
    for variable, usual in COMPILERS.items():
        names = os.environ.get(variable, '').split()[:1] or usual
        if not any(shutil.which(name) for name in names):
            language = {'CC': 'C', 'CXX': 'C++'}[variable]
            raise Problem(
                f'there is no {language} compiler ({", ".join(names)}): '
                'sudo apt install build-essential'
            )


def check_ros() -> None:
    """Check that the sourced ROS 2 is Jazzy or newer and belongs to this Python."""
    distribution = os.environ.get('ROS_DISTRO', '')
    if distribution in OLD_DISTRIBUTIONS:
        raise Problem(
            f'ROS 2 {distribution} is sourced, but Jazzy or newer is needed: source a newer one, '
            'or open a shell without ROS 2 to use the wheels from PyPI'
        )
    command = [sys.executable, '-c', 'import rclpy']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last_line = (done.stderr.strip().splitlines() or ['no reason given'])[-1]
        reason = last_line.partition('. ')[0]
        raise Problem(
            f'a ROS 2 is sourced, but {sys.executable} cannot import its rclpy ({reason}): choose '
            'its Python with make build PYTHON=/usr/bin/python3, or open a shell without ROS 2'
        )
    check_pinocchio(distribution)


def check_pinocchio(distribution: str) -> None:
    """Refuse a ROS 2 without Pinocchio if the wheels do not fit the numpy of the system."""
    command = [sys.executable, '-c', 'import numpy; print(numpy.__version__); import pinocchio']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and done.stdout.startswith('1.'):
        raise Problem(
            f'Pinocchio is missing, and its wheels need numpy 2, which this ROS 2 was not built '
            f'with (numpy {done.stdout.strip()}): sudo apt install ros-{distribution}-pinocchio'
        )


def explain_pip(log: Path) -> str:
    """Return one sentence with the cause of a failure of pip."""
    text = log.read_text(errors='replace')
    if 'No space left on device' in text:
        return f'no space left on the disk of {ROOT}: about 1.5 GB are needed. Details: {log}'
    network = ('NewConnectionError', 'NameResolutionError', 'ConnectTimeoutError', 'ProxyError')
    if any(word in text for word in network):
        return f'cannot reach the Python package index; is this machine offline? Details: {log}'
    errors = [line[7:] for line in text.splitlines() if line.startswith('ERROR: ')]
    reason = errors[0].rstrip('.') if errors else 'no reason given'
    return f'pip failed: {reason}. Details: {log}'
