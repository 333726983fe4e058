# SPDX-License-Identifier: Apache-2.0
"""The law of the controller plugin, run by its program `law_check` over given cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from controller_build import run_check

from robodyn_ros.faults import FAULTS

SETTINGS = {'additive_torque_delay': 3, 'feedforward_scale': 0.8, 'period': 0.002,
            'ramp_up_time': 0.1, 'ramp_down_time': 0.2, 'friction_fade_time': 0.04}  # fmt: skip
WORDS = {entry.number: name.replace('_', ' ') for name, entry in FAULTS.items()} | {0: ''}
START, STOP, RESET = 1, 2, 3


class Cycles(NamedTuple):
    """Output: torques and passed on positions (N, n), faults (N,), printed text."""

    requested: np.ndarray
    applied: np.ndarray
    position: np.ndarray
    fault: list[str]
    said: str


def law_words(path, *, window, limit, rate, threshold=0.0, residual=0.0, excluded=(), **changed):
    """Return the arguments of a run; `changed`: settings other than SETTINGS."""
    words = [path, *{**SETTINGS, **changed}.values(), window, limit, rate, threshold, residual]
    return [*words, ''.join('1' if each else '0' for each in excluded)]


def run_law(
    path, states, *, measured=None, torque=None, time=None, elapsed=None, scale=None, mass=None,
    wish=None, gears=None, folder='', **settings,
) -> Cycles:  # fmt: skip
    """Run references (q, qd, qdd), each (N, n); the robot follows at once unless `measured` says.

    :param torque: measured, (N, n); zero by default
    :param elapsed: time since the cycle before, (N,), in [s]; a period each by default
    :param scale: wanted in each cycle, (N,); mass: of a payload set in that cycle, (N,), else NaN
    :param wish: START, STOP, RESET (which starts, too) or 0 in each cycle, (N,)
    :param gears: share of the torque by gear deflection, and motor positions (N, n); None: none
    :param folder: of the program
    :param settings: of `law_words`
    """
    count, width = states[0].shape
    default = {**SETTINGS, **settings}
    residual, motor = gears or (0.0, np.full((count, width), np.nan))
    each = {
        'measured': (measured, np.nan_to_num(states[0])),
        'torque': (torque, np.zeros((count, width))),
        'motor': (motor, motor),
        'time': (time, default['period'] * np.arange(count)),
        'elapsed': (elapsed, np.full(count, default['period'])),
        'scale': (scale, np.full(count, default['feedforward_scale'])),
        'mass': (mass, np.full(count, np.nan)),
        'wish': (wish, np.zeros(count)),
    }
    rows = [usual if given is None else given for given, usual in each.values()]
    data = np.column_stack([*states, *rows]).tobytes()
    words = law_words(path, residual=residual, **settings)
    done = run_check('law', *words, data=data, folder=folder)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    out = np.frombuffer(done.stdout).reshape(count, 3 * width + 1)
    torques = [out[:, k * width : (k + 1) * width] for k in range(3)]
    return Cycles(*torques, [WORDS[int(code)] for code in out[:, -1]], said)
