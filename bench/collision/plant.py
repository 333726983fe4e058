# SPDX-License-Identifier: Apache-2.0
"""Many robots side by side: elastic joints, drives, warming friction, contacts.

Every joint has a rotor and a link on an elastic gear. The coupling between the joints is the
inverse dynamics of the reference, from which the links deviate little; the deviation itself acts
on the mean inertia of the joint. Drives close position and velocity loops on the motor's encoder
without a model, 1000 times per second. Friction is a Dahl element around a Stribeck curve, so that
it holds either way at rest; it falls while the robot warms up, and grows with the load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from collision.contacts import Contacts
from collision.motion import Path
from collision.robot import Robot
from robodyn_ros.models.interface import Array

STEP = 0.001
CHUNK = 500
START = 3.0
"""Time at the start that is not part of a recording, in [s]: the drives settle."""


@dataclass(frozen=True)
class Measured:
    """Signals that a controller publishes; shape (N, robots, n), SI; float32.

    :param reference: commanded position
    """

    position: Array
    velocity: Array
    torque: Array
    reference: Array


class Plant:
    """Robots that follow their paths."""

    def __init__(
        self, robot: Robot, paths: Sequence[Path], random: np.random.Generator, age: Array
    ) -> None:
        """Start at rest on the paths; `age` of each robot since its start, in [s]."""
        self.robot, self._paths, self._random = robot, paths, random
        shape = (len(paths), 6)
        link, rotor, rated = robot.inertia, robot.rotor, robot.rated
        self._link, self._rotor = link, rotor
        self._stiffness = link * (2.0 * np.pi * robot.gear) ** 2
        self._damping = 2.0 * 0.05 * np.sqrt(self._stiffness * link)
        self._kv = (link + rotor) * 2.0 * np.pi * robot.bandwidth
        self._kp, self._ti = 2.0 * np.pi * 0.25 * robot.bandwidth, 0.05
        self._coulomb, self._viscous = (
            robot.coulomb * rated,
            robot.viscous * rated / robot.limits[0],
        )
        self._age = age
        begin = [path.at(np.zeros(1)) for path in paths]
        start, speed = (np.array([each[k][0] for each in begin]) for k in range(2))
        still = np.zeros(shape)
        hold = robot.body.torque(start, still, still, robot.values)
        self.motor, self.link = start + hold / self._stiffness, start.copy()
        self._motor_speed, self._link_speed = speed.copy(), speed.copy()
        self._integral, self._friction = hold.copy(), np.zeros(shape)
        self._measured_speed = speed.copy()
        # The encoder on the motor is 2^17 counts per turn of a gear of about 100.
        self._count = 2.0 * np.pi / 2**17 / 100.0
        self._encoder = self._encoded()

    def _encoded(self) -> Array:
        return np.rint(self.motor / self._count) * self._count

    def run(self, seconds: float, every: int, contacts: Contacts | None = None) -> Measured:
        """Move for some seconds; keep one of `every` samples of 1 ms, without those of `START`."""
        count, robots = round(seconds / STEP), len(self._paths)
        kept = np.zeros((4, -(-count // every), robots, 6), dtype=np.float32)
        for first in range(0, count, CHUNK):
            length = min(CHUNK, count - first)
            time = (first + np.arange(length)) * STEP
            self._run(time, first, kept, every, contacts)
        return Measured(*kept[:, round(START / STEP / every) :])

    def _run(
        self, time: Array, first: int, kept: Array, every: int, contacts: Contacts | None
    ) -> None:
        moved = [path.at(time) for path in self._paths]
        q, v, a = (np.stack([each[k] for each in moved], axis=1) for k in range(3))
        flat = [each.reshape(-1, 6) for each in (q, v, a)]
        torque = self.robot.body.torque(*flat, self.robot.values).reshape(q.shape)
        coupling = torque - self._link * a
        noise = self.robot.noise * self.robot.rated * self._random.normal(size=q.shape)
        warm = 1.0 + self.robot.warming * np.exp(-(self._age + time[0]) / 2400.0)[:, None]
        for k in range(len(time)):
            external = 0.0 if contacts is None else contacts.torque(first + k, self.link)
            self._step(q[k], v[k], coupling[k], external, warm)
            if (first + k) % every == 0:
                row = (first + k) // every
                kept[0, row] = self._encoder
                kept[1, row] = self._measured_speed
                kept[2, row] = self._command + noise[k]
                kept[3, row] = q[k]

    def _step(
        self, q: Array, v: Array, coupling: Array, external: Array | float, warm: Array
    ) -> None:
        speed = v + self._kp * (q - self._encoder) - self._measured_speed
        self._integral += self._kv * STEP / self._ti * speed
        most = 2.5 * self.robot.rated  # peak torque of the drives
        np.clip(self._integral, -most, most, out=self._integral)
        self._command = np.clip(self._kv * speed + self._integral, -most, most)
        gear = self._stiffness * (self.motor - self.link)
        gear += self._damping * (self._motor_speed - self._link_speed)
        moved = self._motor_speed
        side = np.sign(moved)
        steady = (self._coulomb * (1.0 + 0.25 * np.exp(-((moved / 0.05) ** 2)))) + 0.02 * np.abs(
            gear
        )
        steady *= warm
        self._friction += (steady * side - self._friction) * -np.expm1(
            -np.abs(moved) * STEP / 3e-4
        )
        resist = self._friction + self._viscous * warm * moved
        self._motor_speed = moved + STEP / self._rotor * (self._command - resist - gear)
        self._link_speed += STEP / self._link * (gear - coupling + external)
        self.motor += STEP * self._motor_speed
        self.link += STEP * self._link_speed
        encoder = self._encoded()
        self._measured_speed += 0.4 * ((encoder - self._encoder) / STEP - self._measured_speed)
        self._encoder = encoder
