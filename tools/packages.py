# SPDX-License-Identifier: Apache-2.0
"""Installation of the folder requirements into .venv."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

from tools.checks import explain_pip
from tools.common import ROOT, VENV, Problem

REQUIREMENTS = ROOT / 'requirements'
LOCK = REQUIREMENTS / 'lock.txt'
LOG = ROOT / 'log' / 'pip.log'

COMMANDS = {'cmake': 'cmake', 'colcon-core': 'colcon', 'ninja': 'ninja'}
"""Packages that are needed only for a command, which the system may already have."""

HELD = ('numpy', 'scipy')
"""Packages that ROS 2 was built with, which must not be replaced."""

BINARY = ('--only-binary', ':all:', '--no-binary', 'empy')
"""Options of pip: wheels only, except of empy, which has none."""

LIST = """
import importlib.metadata, json
found = importlib.metadata.distributions()
print(json.dumps({d.metadata['Name']: d.version for d in found}))
"""


def install_pinned() -> None:
    """Install the packages of the lock, which is complete."""
    install_pip()
    pip('--no-deps', '--require-hashes', *BINARY, '-r', str(LOCK))


def install_missing() -> None:
    """Install the packages that ROS 2 and the system lack."""
    install_pip()
    wanted = [line for file in ('core', 'dev', 'build') for line in lines(f'{file}.in')]
    wanted = [line for line in wanted if not comes_from_elsewhere(name(line))]
    held = VENV / 'constraints.txt'
    held.write_text('\n'.join(constraints({name(line) for line in wanted})))
    pip('--constraint', str(held), *wanted)


def install_pip() -> None:
    """Replace pip of the Python by the pinned one, which is up to twice as fast."""
    pinned = VENV / 'pip.txt'  # pip takes hashes from files only
    pinned.write_text('\n'.join(line for line in lines('lock.txt') if name(line) == 'pip'))
    pip('--require-hashes', '-r', str(pinned))


def lines(file: str) -> list[str]:
    """Return the requirements in a file of the requirements folder, with their hashes."""
    texts = (REQUIREMENTS / file).read_text().replace('\\\n', ' ').splitlines()
    return [line for line in (text.partition('#')[0].strip() for text in texts) if line]


def name(requirement: str) -> str:
    """Return the name of the package of a requirement, normalised as in the lock."""
    match = re.match(r'[\w.-]+', requirement)
    return re.sub(r'[-_.]+', '-', match[0]).lower() if match else ''


def comes_from_elsewhere(package: str) -> bool:
    """Return True if the system has a package that pip does not list."""
    if package == 'pin':
        return run_python('-c', 'import pinocchio').returncode == 0
    if package.startswith('colcon-'):
        package = 'colcon-core'
    return package in COMMANDS and shutil.which(COMMANDS[package]) is not None


def constraints(wanted: set[str]) -> list[str]:
    """Return the pins of missing packages, and the system's versions of held ones.

    pip resolves further dependencies: their pinned versions may not fit numpy of the system.
    """
    system = json.loads(run_python('-c', LIST).stdout)
    system = {name(package): version for package, version in system.items()}
    pins = [line for line in lines('lock.txt') if name(line) in wanted - system.keys()]
    # one hash would make pip demand hashes of the packages that ROS 2 or the system chooses
    pins = [pin.partition('--hash')[0].strip() for pin in pins]
    return pins + [f'{package}=={system[package]}' for package in HELD if package in system]


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the environment's Python."""
    command = [str(VENV / 'bin' / 'python'), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def pip(*arguments: str) -> None:
    """Run pip install with output to log/pip.log."""
    done = run_python(
        *('-m', 'pip', 'install', '--no-compile', '--no-input', '--prefer-binary'),
        *('--disable-pip-version-check', '--progress-bar', 'off', *arguments),
    )
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text(done.stdout + done.stderr)
    if done.returncode:
        raise Problem(explain_pip(LOG))
