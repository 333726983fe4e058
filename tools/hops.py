# SPDX-License-Identifier: Apache-2.0
"""Path of a recording through `robodyn identify`: functions that receive it, and their files.

    python tools/hops.py

identifies a short simulated recording, and counts the functions of the package that get the
recording, or a sequence of recordings, as an argument. Few functions in few files mean that a
reader can follow it.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
URDF = ROOT / 'urdf' / 'single_rotary_axis.urdf'


def hops(call: Callable[[], object], kind: type, folder: Path) -> set[tuple[str, str]]:
    """Return file and name of each function in a folder that receives an object of a type.

    :param call: runs what is observed
    :param kind: of the object, or of the first item of a sequence
    """
    receivers: set[tuple[str, str]] = set()
    inside = f'{folder}/'

    def observe(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != 'call' or not code.co_filename.startswith(inside):
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(_holds(frame.f_locals.get(name), kind) for name in names):
            name = getattr(code, 'co_qualname', code.co_name)  # since Python 3.11
            receivers.add((code.co_filename.removeprefix(inside), name))

    sys.setprofile(observe)
    try:
        call()
    finally:
        sys.setprofile(None)
    return receivers


def _holds(value: object, kind: type) -> bool:
    if isinstance(value, tuple | list) and value:
        value = value[0]
    return isinstance(value, kind)


def main() -> int:
    """Print the functions, by file."""
    from robodyn_ros.cli.main import main as robodyn
    from robodyn_ros.recording.recording import Recording

    time = np.arange(0.0, 20.0, 0.005)
    position = np.sin(1.3 * time) + 0.3 * np.sin(4.1 * time)
    velocity = np.gradient(position, time)
    torque = 0.2 * np.gradient(velocity, time) + 0.5 * np.sign(velocity) + 0.3 * velocity
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'recording.csv'
        table = np.column_stack([time, position, torque])
        np.savetxt(file, table, delimiter=',', header='time,q_joint1,tau_joint1', comments='')
        command = ['identify', str(file), '--urdf', str(URDF), '--out', f'{folder}/result']
        with contextlib.redirect_stdout(io.StringIO()):
            receivers = hops(lambda: robodyn(command), Recording, ROOT / 'robodyn_ros')
    for name, function in sorted(receivers):
        print(f'{name:55} {function}')
    print(f'{len(receivers)} functions in {len({name for name, _ in receivers})} files')
    return 0


if __name__ == '__main__':
    sys.path[0] = str(ROOT)
    sys.exit(main())
