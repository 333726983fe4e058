# SPDX-License-Identifier: Apache-2.0
"""Motions of the collision bench: random moves, pick and place, weaving."""

from __future__ import annotations

import numpy as np

from collision.robot import Robot
from robodyn_ros.models.interface import Array

LOW = np.array([-1.4, -0.7, -1.5, -1.8, -1.5, -2.5])
HIGH = np.array([1.4, 0.9, 0.4, 1.8, 1.5, 2.5])
KINDS = ('random', 'pick_and_place', 'weaving')
Motion = tuple[Array, Array, Array]


class Path:
    """Reference of one robot: minimum-jerk moves between poses with rests, or sums of sines."""

    def __init__(self, robot: Robot, kind: str, seconds: float, random: np.random.Generator):
        """Draw the motion."""
        self._sines = _sines(robot, random) if kind == 'weaving' else None
        if kind != 'weaving':
            self._draw(robot, kind, seconds, random)

    def _draw(self, robot: Robot, kind: str, seconds: float, random: np.random.Generator) -> None:
        speed, hard = robot.limits
        poses = random.uniform(LOW, HIGH, (4 if kind == 'pick_and_place' else 4096, 6))
        factors = random.uniform(0.5, 1.0, len(poses))
        time, count = 0.5, 0
        start, length, target = [0.0], [1.0], [poses[0]]
        while time < seconds:
            count += 1
            pose, factor = poses[count % len(poses)], factors[count % len(poses)]
            way = np.abs(pose - target[-1])
            least = max((1.875 * way / speed).max(), np.sqrt(5.774 * way / hard).max())
            start.append(time)
            length.append(least / factor)
            target.append(pose)
            time += length[-1] + random.choice([0.0, 0.0, 0.3, 0.8])
        self._start, self._length = np.array(start), np.array(length)
        self._target = np.array([poses[0], *target])

    def at(self, time: Array) -> Motion:
        """Return position, velocity and acceleration, shape (N, 6) each."""
        if self._sines is not None:
            mean, size, rate, phase = self._sines
            angle = rate * time[:, None, None] + phase
            q, v = mean + (size * np.sin(angle)).sum(1), (size * rate * np.cos(angle)).sum(1)
            return q, v, -(size * rate**2 * np.sin(angle)).sum(1)
        row = np.searchsorted(self._start, time, side='right') - 1
        length = self._length[row][:, None]
        x = np.clip((time - self._start[row])[:, None] / length, 0.0, 1.0)
        way = self._target[row + 1] - self._target[row]
        q = self._target[row] + way * x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        v = way / length * 30.0 * x**2 * (1.0 - x) ** 2
        return q, v, way / length**2 * 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)


def _sines(robot: Robot, random: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    speed, hard = robot.limits
    rate = 2.0 * np.pi * random.uniform(0.05, 0.35, (3, 6))
    size = random.uniform(0.3, 1.0, (3, 6))
    most = 0.5 * (HIGH - LOW) / size.sum(0)
    most = np.minimum(most, speed / (size * rate).sum(0))
    most = np.minimum(most, hard / (size * rate**2).sum(0))
    size *= most * random.uniform(0.6, 1.0, 6)
    return 0.5 * (LOW + HIGH), size, rate, random.uniform(0.0, 6.3, (3, 6))
