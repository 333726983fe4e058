# SPDX-License-Identifier: Apache-2.0
"""The law of the controller plugin, run by its program `law_check` over given cycles."""

from __future__ import annotations

import subprocess
from typing import NamedTuple

import numpy as np
from controller_build import law_check

from robodyn_ros.faults import FAULTS

SETTINGS = {'additive_torque_delay': 3, 'feedforward_scale': 0.8, 'period': 0.002,
            'ramp_up_time': 0.1, 'ramp_down_time': 0.2, 'friction_fade_time': 0.04}  # fmt: skip
WORDS = {entry.number: name.replace('_', ' ') for name, entry in FAULTS.items()} | {0: ''}


class Cycles(NamedTuple):
    """Output: torques and passed on positions (N, n), faults (N,), printed text."""

    requested: np.ndarray
    applied: np.ndarray
    position: np.ndarray
    fault: list[str]
    said: str


def run_law(
    path, states, *, window, limit, rate, measured=None, time=None, elapsed=None, scale=None,
    mass=None, excluded=(), gears=None, **changed,
) -> Cycles:  # fmt: skip
    """Run references (q, qd, qdd), each (N, n); the robot follows at once unless `measured` says.

    :param elapsed: time since the cycle before, (N,), in [s]; a period each by default
    :param scale: wanted in each cycle, (N,); mass: of a payload set in that cycle, (N,), else NaN
    :param excluded: for each joint, whether its drive adds gravity; empty: none does
    :param gears: share of the torque by gear deflection, and motor positions (N, n); None: none
    :param changed: settings other than SETTINGS
    """
    count, width = states[0].shape
    settings = {**SETTINGS, **changed}
    arguments = [str(value) for value in (path, *settings.values(), window, limit, rate)]
    if excluded or gears:
        arguments.append(''.join('1' if own else '0' for own in excluded))
    if gears:
        arguments.append(str(gears[0]))
    measured = np.nan_to_num(states[0]) if measured is None else measured
    time = settings['period'] * np.arange(count) if time is None else time
    elapsed = np.full(count, settings['period']) if elapsed is None else elapsed
    scale = np.full(count, settings['feedforward_scale']) if scale is None else scale
    mass = np.full(count, np.nan) if mass is None else mass
    motor = [gears[1]] if gears else []
    rows = np.column_stack([*states, measured, time, elapsed, scale, mass, *motor])
    done = subprocess.run(
        [law_check(), *arguments], input=rows.tobytes(), capture_output=True, timeout=60
    )
    said = done.stderr.decode()
    assert done.returncode == 0, said
    out = np.frombuffer(done.stdout).reshape(count, 3 * width + 1)
    torques = [out[:, k * width : (k + 1) * width] for k in range(3)]
    return Cycles(*torques, [WORDS[int(code)] for code in out[:, -1]], said)
