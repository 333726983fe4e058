"""What pip installs into .venv, from the requirements folder."""

from __future__ import annotations

import json
import shutil
import subprocess

from tools.checks import explain_pip
from tools.common import ROOT, VENV, Problem

REQUIREMENTS = ROOT / 'requirements'
LOCK = REQUIREMENTS / 'lock.txt'
LOG = ROOT / 'log' / 'pip.log'

MODULES = {
    'pin': 'pinocchio',
    'pytest-timeout': 'pytest_timeout',
    'pytest-xdist': 'xdist',
    'pyyaml': 'yaml',
}
"""Modules that are not called as their package."""

COMMANDS = ('cmake', 'colcon-core', 'ninja')
"""Packages that are wanted for a command only, which the system may have from elsewhere."""

HELD = ('numpy', 'scipy')
"""What a ROS 2 was built with: nothing that is installed on top may replace it."""

LIST = """
import importlib.metadata, json
found = importlib.metadata.distributions()
print(json.dumps({d.metadata['Name'].lower(): d.version for d in found}))
"""


def install_pinned() -> None:
    """Install exactly what the lock names; it is complete, so that nothing is to be resolved."""
    install_pip()
    pip('--no-deps', '--only-binary', ':all:', '--no-binary', 'empy', '-r', str(LOCK))


def install_missing() -> None:
    """Install what a ROS 2 and its system lack, and leave alone what they have."""
    install_pip()
    wanted = [name for file in ('core', 'dev', 'build') for name in names(file)]
    if shutil.which('colcon'):
        wanted = [name for name in wanted if not name.startswith('colcon-')]
    missing = [name for name in wanted if not is_there(name)]
    held = VENV / 'constraints.txt'
    held.write_text('\n'.join(constraints(missing)))
    pip('--constraint', str(held), *missing)


def install_pip() -> None:
    """Replace the Python's own pip, which may be several times slower, by the pinned one."""
    pip(*[pin for pin in pins() if pin.startswith('pip==')])


def names(file: str) -> list[str]:
    """Return the package names of a requirements/*.in file."""
    lines = (REQUIREMENTS / f'{file}.in').read_text().lower().splitlines()
    return [line for line in lines if line and not line.startswith('#')]


def pins() -> list[str]:
    """Return the lines of the lock, without comments."""
    lines = (line.partition('#')[0].strip() for line in LOCK.read_text().splitlines())
    return [line for line in lines if line]


def is_there(name: str) -> bool:
    """Tell whether a package is there already, wherever from."""
    if name in COMMANDS:
        return shutil.which(name.partition('-')[0]) is not None
    return run_python('-c', f'import {MODULES.get(name, name)}').returncode == 0


def constraints(missing: list[str]) -> list[str]:
    """Return the pins of what is installed, and the system's versions of what is held.

    What the installed packages need in turn is left to pip: the lock's versions of those may not
    fit the system's numpy.
    """
    system = json.loads(run_python('-c', LIST).stdout)
    chosen = [pin for pin in pins() if pin.partition('==')[0] in missing]
    return chosen + [f'{name}=={system[name]}' for name in HELD if name in system]


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
