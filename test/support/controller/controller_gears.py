# SPDX-License-Identifier: Apache-2.0
"""Torque by gear deflection, of random maps, run by the program `law_check` of the plugin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from controller_build import run_check

from robodyn_ros.identification.gears.maps import GmrMap, RbfMap
from robodyn_ros.models.gear_torque import INPUTS, GearTorqueLaw

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


def by_plugin(path, inputs):
    """Torque of the law of a result file (N, n), of deflection, rate and velocity (N, 3, n)."""
    done = run_check('gears', path, data=np.ascontiguousarray(inputs, dtype=float).tobytes())
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout).reshape(len(inputs), -1)
