"""What pip installs into .venv, from the requirements folder."""

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
"""Packages that are wanted for a command only, which a system may have from elsewhere."""

HELD = ('numpy', 'scipy')
"""What a ROS 2 was built with: nothing that is installed on top may replace it."""

LIST = """
import importlib.metadata, json
found = importlib.metadata.distributions()
print(json.dumps({d.metadata['Name']: d.version for d in found}))
"""


def install_pinned() -> None:
    """Install exactly what the lock names; it is complete, so that nothing is to be resolved."""
    install_pip()
    pip('--no-deps', '--only-binary', ':all:', '--no-binary', 'empy', '-r', str(LOCK))


def install_missing() -> None:
    """Install what a ROS 2 and its system lack, and leave alone what they have."""
    install_pip()
    wanted = [line for file in ('core', 'dev', 'build') for line in lines(f'{file}.in')]
    wanted = [line for line in wanted if not comes_from_elsewhere(name(line))]
    held = VENV / 'constraints.txt'
    held.write_text('\n'.join(constraints({name(line) for line in wanted})))
    pip('--constraint', str(held), *wanted)


def install_pip() -> None:
    """Replace the Python's own pip, which may take twice the time, by the pinned one."""
    pip(*[line for line in lines('lock.txt') if name(line) == 'pip'])


def lines(file: str) -> list[str]:
    """Return the requirements in a file of the requirements folder."""
    texts = (REQUIREMENTS / file).read_text().splitlines()
    return [line for line in (text.partition('#')[0].strip() for text in texts) if line]


def name(requirement: str) -> str:
    """Return the name of the package a requirement asks for, normalised as in the lock."""
    found = re.match(r'[\w.-]+', requirement)
    return re.sub(r'[-_.]+', '-', found[0]).lower() if found else ''


def comes_from_elsewhere(package: str) -> bool:
    """Tell whether the system has a package in a way that pip does not see."""
    if package == 'pin':
        return run_python('-c', 'import pinocchio').returncode == 0
    if package.startswith('colcon-'):
        package = 'colcon-core'
    return package in COMMANDS and shutil.which(COMMANDS[package]) is not None


def constraints(wanted: set[str]) -> list[str]:
    """Return the pins of what the system lacks, and the system's versions of what is held.

    What the wanted packages need in turn is left to pip: the lock's versions of those may not
    fit the system's numpy.
    """
    system = json.loads(run_python('-c', LIST).stdout)
    system = {name(package): version for package, version in system.items()}
    pins = [line for line in lines('lock.txt') if name(line) in wanted - system.keys()]
    return pins + [f'{package}=={system[package]}' for package in HELD if package in system]


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the environment's Python."""
    command = [str(VENV / 'bin' / 'python'), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def pip(*arguments: str) -> None:
    """Run pip install; what it says goes to log/pip.log."""
    done = run_python(
        *('-m', 'pip', 'install', '--no-compile', '--no-input', '--prefer-binary'),
        *('--disable-pip-version-check', '--progress-bar', 'off', *arguments),
    )
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text(done.stdout + done.stderr)
    if done.returncode:
        raise Problem(explain_pip(LOG))
