# SPDX-License-Identifier: Apache-2.0
"""Run colcon build, if a compiled file or the list of linked files has changed.

Run by `make build` in the environment of env.sh. Python sources are linked: editing them needs no
build, but a new or removed file does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

from tools.common import INSTALL, ROOT, VENV, Problem, hold_lock, inside, note, one_line_errors

STAMP = INSTALL / 'complete'
BUILD = ROOT / 'build'
LOG = ROOT / 'log' / 'latest_build' / 'robodyn_ros' / 'stdout.log'
COMPILED = ('msg', 'srv', 'action', 'cmake', 'CMakeLists.txt', 'package.xml')
PLUGIN = ('src', 'include', 'robodyn_controller.xml')
ROS2_CONTROL = Path('share/ament_index/resource_index/packages/controller_interface')
REMARK = '-- robodyn_ros: '
"""Start of the lines of CMake about parts that are left out."""
LINKED = ('robodyn_ros', 'scripts', 'launch', 'config', 'urdf', 'rviz')
PATHS = ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH', 'PYTHONPATH', 'LD_LIBRARY_PATH')
FLAGS = '-O1'
"""Optimisation of the generated message code: a higher one takes longer without effect."""


def main() -> None:
    """Build, unless the existing build is up to date."""
    wanted = fingerprint()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    start = time.monotonic()
    note('building messages and nodes with colcon ...')
    clean_up()
    if subprocess.run(command(), cwd=ROOT, env=environment(), check=False).returncode:
        raise Problem('colcon build failed, see above; the complete output is in log/latest_build')
    STAMP.write_text(wanted)
    for remark in remarks():
        note(remark)
    note(f'built in {time.monotonic() - start:.0f} s')


def fingerprint() -> str:
    """Return a hash of the compiled files and of the names of the linked files."""
    digest = hashlib.sha256((VENV / 'complete').read_bytes())
    digest.update(f'{has_ros2_control()}'.encode())
    for file in files((*COMPILED, *(PLUGIN if has_ros2_control() else ()))):
        digest.update(f'{file}'.encode() + file.read_bytes())
    for file in files(LINKED):
        digest.update(f'{file} {os.access(file, os.X_OK)}'.encode())
    return digest.hexdigest()


def has_ros2_control() -> bool:
    """Return True if the controller plugin can be built: the environment has ros2_control."""
    entries = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    return any(Path(entry, ROS2_CONTROL).exists() for entry in entries if entry)


def remarks() -> list[str]:
    """Return what CMake left out and why, from the output of the last build."""
    lines = LOG.read_text(errors='replace').splitlines() if LOG.exists() else []
    return [line.removeprefix(REMARK) for line in lines if line.startswith(REMARK)]


def files(places: tuple[str, ...]) -> list[Path]:
    """Return files, and all files in folders, of the checkout, without caches of Python."""
    roots = [ROOT / place for place in places]
    paths = [path for root in roots for path in (root, *root.rglob('*')) if path.is_file()]
    return sorted(path for path in paths if '__pycache__' not in path.parts)


def clean_up() -> None:
    """Remove links to missing files, and a build of another place or environment."""
    STAMP.unlink(missing_ok=True)
    mark = BUILD / 'environment'
    key = (VENV / 'complete').read_text()
    if not mark.exists() or mark.read_text() != key:
        for folder in (BUILD, INSTALL):
            shutil.rmtree(folder, ignore_errors=True)
        mark.parent.mkdir()
        mark.write_text(key)
    for path in INSTALL.rglob('*'):
        if path.is_symlink() and not path.exists():
            path.unlink()


def command() -> list[str]:
    """Return the command line of colcon."""
    colcon = ['colcon', 'build', '--symlink-install', '--base-paths', str(ROOT)]
    colcon += ['--packages-select', 'robodyn_ros', '--cmake-args', '-G', 'Ninja']
    colcon += [f'-DPython3_EXECUTABLE={VENV}/bin/python3', '-Wno-unused-cli']
    colcon += [f'-DROBODYN_CPP_INTERFACES={"ON" if has_ros2_control() else "OFF"}']
    return [*colcon, f'-DCMAKE_C_FLAGS={FLAGS}', f'-DCMAKE_CXX_FLAGS={FLAGS}']


def environment() -> dict[str, str]:
    """Return the environment without paths of an earlier build of this package."""
    clean = dict(os.environ)
    for name in PATHS:
        entries = clean.get(name, '').split(os.pathsep)
        kept = [entry for entry in entries if not inside(entry, ROOT) or inside(entry, VENV)]
        clean[name] = os.pathsep.join(kept)
    return clean


if __name__ == '__main__':
    with one_line_errors(), hold_lock():
        main()
