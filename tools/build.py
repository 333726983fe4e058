#!/usr/bin/env python3
"""Run colcon build in the environment that env.sh entered, when something it installs changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

from common import INSTALL, ROOT, VENV, Problem, locked, main_guard, note, outside

STAMP = INSTALL / 'complete'
INTERFACES = ('msg', 'srv', 'action')
INSTALLED = ('robodyn_ros', 'scripts', 'launch', 'config', 'urdf', 'rviz')
FLAGS = '-O1'
"""Generated message code gains nothing from more, and compiles faster."""
PATHS = ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH', 'PYTHONPATH', 'LD_LIBRARY_PATH')


def main() -> None:
    """Build, unless the result that exists is up to date."""
    wanted = fingerprint()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    start = time.monotonic()
    note('building the messages (colcon build) ...')
    STAMP.unlink(missing_ok=True)
    forget_other_place()
    if subprocess.run(command(), cwd=ROOT, env=environment(), check=False).returncode:
        raise Problem('colcon build failed; its output is above, and in log/latest_build')
    STAMP.write_text(wanted)
    note(f'built in {time.monotonic() - start:.0f} s')


def fingerprint() -> str:
    """Return what the build depends on: interface contents, and names of what is linked."""
    digest = hashlib.sha256((VENV / 'complete').read_bytes())
    for file in [*files(*INTERFACES), ROOT / 'CMakeLists.txt', ROOT / 'package.xml', Path(__file__)]:
        digest.update(f'{file}'.encode() + file.read_bytes())
    for file in files(*INSTALLED):
        digest.update(f'{file} {os.access(file, os.X_OK)}'.encode())
    return digest.hexdigest()


def files(*folders: str) -> list[Path]:
    """Return the files of folders of the checkout, without what Python makes beside them."""
    found = [path for folder in folders for path in (ROOT / folder).rglob('*') if path.is_file()]
    return sorted(path for path in found if '__pycache__' not in path.parts)


def forget_other_place() -> None:
    """Remove a build made in another folder or environment: CMake would refuse or mix them."""
    mark = ROOT / 'build' / 'environment'
    key = (VENV / 'complete').read_text()
    if not mark.exists() or mark.read_text() != key:
        for folder in (ROOT / 'build', INSTALL):
            shutil.rmtree(folder, ignore_errors=True)
        mark.parent.mkdir()
        mark.write_text(key)


def command() -> list[str]:
    """Return the colcon command line."""
    colcon = ['colcon', 'build', '--symlink-install', '--packages-select', 'robodyn_ros']
    colcon += ['--base-paths', str(ROOT), '--cmake-args', '-G', 'Ninja']
    colcon += [f'-DPython3_EXECUTABLE={VENV}/bin/python3', '-Wno-unused-cli']
    return [*colcon, f'-DCMAKE_C_FLAGS={FLAGS}', f'-DCMAKE_CXX_FLAGS={FLAGS}']


def environment() -> dict[str, str]:
    """Return the environment without an earlier build of this package."""
    clean = dict(os.environ)
    for name in PATHS:
        entries = clean.get(name, '').split(os.pathsep)
        kept = [e for e in entries if outside(e) or VENV in [Path(e), *Path(e).parents]]
        clean[name] = os.pathsep.join(kept)
    return clean


if __name__ == '__main__':
    with main_guard(), locked():
        main()
