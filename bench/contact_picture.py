# SPDX-License-Identifier: Apache-2.0
"""Picture of the smallest force at the tool that crosses a threshold, per pose and direction."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from contact_cell import Robot

from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.models.interface import Array

mpl.use('Agg')
import matplotlib.pyplot as plt

POSES = {
    'stretched out': (0.0, 1.2, -1.2, 0.0, 0.3, 0.0),
    'at work': (0.0, 0.4, -0.6, 0.0, 1.2, 0.0),
    'folded': (0.0, -0.4, -1.8, 0.0, 0.6, 0.0),
}
LIMITS = np.array(
    [[-2.97, 2.97], [-1.57, 2.3], [-2.9, 1.3], [-3.3, 3.3], [-2.1, 2.1], [-6.28, 6.28]]
)


def smallest_force(tool: Array, threshold: Array, directions: Array) -> Array:
    """Return the smallest force along each direction that loads a joint above its threshold.

    :param tool: Jacobian of the tool's position, shape (3, n)
    :param threshold: shape (n,), in [Nm] or [N]
    :param directions: unit vectors, shape (N, 3)
    :return: shape (N,), in [N]; infinite where no joint feels the direction
    """
    with np.errstate(divide='ignore'):
        forces: Array = (threshold / np.abs(directions @ tool)).min(axis=1)
    return forces


def smallest_forces(robot: Robot, settings: CollisionSettings, count: int = 2000) -> Array:
    """Return the smallest forces at random poses within the joint limits, in random directions."""
    random = np.random.default_rng(5)
    ways = random.normal(size=(count, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    found = [
        smallest_force(
            robot.links.at(random.uniform(*LIMITS.T)).tool[:3], settings.collision, way[None]
        )
        for way in ways
    ]
    return np.concatenate(found)


def draw(robot: Robot, settings: CollisionSettings, folder: Path) -> Path:
    """Draw three poses from the side and their smallest forces in the plane of the arm."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / 'contact_force.png'
    angle = np.linspace(0.0, 2.0 * np.pi, 361)
    plane = np.stack([np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1)
    flat = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    still = settings.collision + np.asarray(settings.low_velocity_torque)
    figure = plt.figure(figsize=(10.0, 6.6), layout='constrained')
    for column, (name, pose) in enumerate(POSES.items()):
        linear = robot.links.at(np.array(pose)).tool[:3]
        for row, (title, ways) in enumerate(
            (('side view (x, z)', plane), ('top view (x, y)', flat))
        ):
            axis = figure.add_subplot(2, 3, 1 + column + 3 * row, projection='polar')
            axis.plot(angle, smallest_force(linear, settings.collision, ways), label='in motion')
            axis.plot(angle, smallest_force(linear, still, ways), ':', label='at standstill')
            axis.set_rlim(0.0, 120.0)
            axis.set_rticks([25.0, 50.0, 100.0])
            axis.set_title(f'{name}, {title}', fontsize=9)
            axis.tick_params(labelsize=7)
    axis.legend(loc='lower right', fontsize=7)
    figure.suptitle('Smallest force at the tool that is found [N], by its direction')
    figure.savefig(path, dpi=70)
    plt.close(figure)
    return path
