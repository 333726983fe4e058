# SPDX-License-Identifier: Apache-2.0
"""Torque by gear deflection, of random maps, run by the program `law_check` of the plugin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from controller_build import run_check
from measured_gear_torque import MeasuredGearTorque

from robodyn_ros.identification.gears.maps import GmrMap, RbfMap
from robodyn_ros.models.gear_torque import INPUTS, GearTorqueLaw

READ, TORQUE, CLEAR, LAW = range(4)
"""Kinds of steps."""
SIZES = np.array([2e-3, 0.05, 1.5])
"""Largest deflection [rad], rate [rad/s] and root of the velocity of a random law."""


def random_law(joints: Sequence[str], kind: str, inputs: int, seed=0, cutoff=20.0):
    """A law with numbers of the size that training gives."""
    random = np.random.default_rng(seed)
    count, size = len(joints), SIZES[:inputs]
    high = size * random.uniform(0.6, 1.0, (count, inputs))
    low = -size * random.uniform(0.6, 1.0, (count, inputs))
    if kind == 'rbf':
        grid = (7, 5, 9)[:inputs]
        centres = tuple(
            np.linspace(low[:, axis], high[:, axis], points).T for axis, points in enumerate(grid)
        )
        widths = np.array([0.5 * (each[:, 1] - each[:, 0]) for each in centres]).T
        learned = RbfMap(centres, widths, random.normal(0.0, 8.0, (count, *grid)))
    else:
        scale = np.append(size, 8.0)
        shape = (count, 10, inputs + 1)
        means = random.normal(0.0, 0.4, shape) * scale
        roots = random.normal(0.0, 0.3, (*shape, inputs + 1)) + 0.1 * np.eye(inputs + 1)
        covariances = roots @ roots.swapaxes(-1, -2) * np.outer(scale, scale)
        weights = random.uniform(0.1, 1.0, (count, 10))
        learned = GmrMap(weights / weights.sum(axis=1, keepdims=True), means, covariances)
    return GearTorqueLaw(
        joints=tuple(joints), inputs=INPUTS[:inputs], map=learned, low=low, high=high,
        limit=random.uniform(4.0, 8.0, count), cutoff=cutoff,
        gear_ratio=random.choice([-120.0, 50.0, 101.0], count),
    )  # fmt: skip


def random_steps(law, period: float, count: int, seed=0):
    """Measurements of a motion with all that may be wrong with them, (N, 2 + 3 n)."""
    random, width = np.random.default_rng(seed), len(law.joints)
    size, rows, stamp = SIZES[0], [], 1.7e9
    speed, phase = random.uniform(4.0, 30.0, width), random.uniform(0.0, 6.0, width)
    unused = np.zeros(width)
    for step in range(count):
        time = step * period
        position = 0.8 * np.sin(0.5 * speed * time + phase)
        deflection = 0.9 * size * np.sin(speed * time + phase) * (2.0 if step % 900 > 800 else 1.0)
        motor = law.gear_ratio * (position + deflection + 0.02 * size * random.normal(size=width))
        if random.random() < 0.02:
            random.choice([position, motor])[random.integers(width)] = random.choice(
                [np.nan, np.inf, -np.inf, 1e308, 1e200]
            )
        stamp += period * random.choice([1.0, 1.0, 1.0, 0.25, 3.4, random.uniform(0.9, 1.1)])
        if random.random() < 0.01:
            stamp += random.choice([0.015, 0.03, 0.5, -0.001, -2.0, 1e6])
        given = np.nan if random.random() < 0.003 else stamp
        for _ in range(random.integers(3)):  # none, one, or the same twice
            rows.append([READ, given, *position, *motor, *unused])
        silent = random.random() < 0.004
        for _ in range(random.integers(10, 120) if silent else random.integers(3)):
            rows.append([TORQUE, 0.0, *unused, *unused, *unused])
        if random.random() < 0.002:
            rows.append([CLEAR, 0.0, *unused, *unused, *unused])
    return np.array(rows)


def by_plugin(path, steps, *, period, scale, fade_time, timeout, folder=''):
    """Torque after each step (N, n), and what the program says at its end."""
    data = np.asarray(steps, dtype=float).tobytes()
    done = run_check('gears', path, period, scale, fade_time, timeout, data=data, folder=folder)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    return np.frombuffer(done.stdout).reshape(len(steps), -1), said


def by_node(law, steps, **settings):
    """The same by the classes of the Python node."""
    gears, width, rows = MeasuredGearTorque(law, **settings), len(law.joints), []
    for step in steps:
        first, second, third = step[2:].reshape(3, width)
        with np.errstate(all='ignore'):
            if step[0] == LAW:
                rows.append(law.torque(first[None], second[None], third[None])[0])
                continue
            if step[0] == READ:
                gears.read(first, second, step[1])
            elif step[0] == TORQUE:
                gears.torque()
            else:
                gears.clear()
        rows.append(gears.applied.copy())
    return np.array(rows)
