# SPDX-License-Identifier: Apache-2.0
"""The simulated arm of a plant: URDF, true parameters, torque, recording and truth.

The URDF is that of `robots.random_urdf`; the links differ from it as in `true_arm`. Added here:
how torque is measured, rough URDF masses, a spring balancer and joints at rest.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from robots import random_urdf
from true_arm import truth

import robodyn_ros as rd
from next_robot.flaws import Arrays
from next_robot.friction import Motion, motion, noise, torque_of
from next_robot.plant import Plant
from robodyn_ros.models.interface import Array, DynamicModel

ROTORS = (0.05, 0.5)
"""Rotor inertia of the first joint, in [kg m^2]; each further joint has 0.7 times that."""
CURRENT_STEP = 0.005
"""Resolution of torque by motor current, relative to the largest torque of the joint."""
WEAKEST = 0.2
"""Smallest rated torque of a joint, relative to that of the strongest joint of the arm."""
EXTRA = 1.3
"""Largest speed of the truth's motion, relative to that of the recording; the smallest is 0.7."""


class Arm:
    """A plant that can be moved and measured."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self._key = 1000 * plant.seed + plant.number
        self._xml = random_urdf(plant.axes, self._key, types=('revolute',))
        self.body = self.model('none')
        self.rests = np.zeros(plant.axes, dtype=bool)
        if plant.flaw == 'resting':
            order = plant.random(0).permutation(plant.axes)
            self.rests[order[: plant.random(1).integers(1, plant.axes)]] = True
        self._friction = 'none' if plant.torque == 'sensor' else plant.friction

    def model(self, friction: str) -> DynamicModel:
        """Return the model of the URDF that users have; friction 'none': the rigid body."""
        xml = re.sub('velocity="3"', 'velocity="20"', self._xml)
        if friction != 'none':
            efforts = iter(self.effort)
            xml = re.sub('effort="100"', lambda _: f'effort="{next(efforts):.4g}"', xml)
        with TemporaryDirectory() as folder:
            path = Path(folder) / 'robot.urdf'
            path.write_text(xml, 'utf-8')
            return rd.load_model(path, friction=() if friction == 'none' else (friction,))

    @cached_property
    def values(self) -> Array:
        """Inertial parameters of the real arm, shape (p,)."""
        plant, values = self.plant, truth(self.body, self._key)
        random, links = plant.random(2), {}
        rotors = random.uniform(*ROTORS, plant.axes) * 0.7 ** np.arange(plant.axes)
        rough = np.log(plant.masses) if plant.masses > 1.2 else 0.0
        for index, item in enumerate(self.body.parameters):
            name, _, suffix = item.name.rpartition('.')
            if suffix == 'rotor_inertia':
                joint = self.body.joint_names.index(name)
                values[index] = 0.0 if plant.torque == 'sensor' else rotors[joint]
            else:
                factor = float(np.exp(rough * random.uniform(-1.0, 1.0)))
                values[index] *= links.setdefault(name, factor)
        return values

    @cached_property
    def _typical(self) -> Array:
        moved = self.motion(3, 400, 20.0)
        return torque_of(self._friction, self._key, self.body, self.values, moved)

    @property
    def effort(self) -> Array:
        """Rated torques: at least twice the largest torque of a typical motion, shape (n,)."""
        largest = 2.0 * np.abs(self._typical).max(axis=0)
        return np.maximum(largest, WEAKEST * largest.max())

    def motion(self, purpose: int, count: int, rate: float, factor: float = 1.0) -> Motion:
        """Return q, qd, qdd (N, n) of a random motion; resting joints stay where they are."""
        random, axes = self.plant.random(purpose), self.plant.axes
        speed = factor * self.plant.speed
        moved = motion(axes, count, rate, random, speed)
        moved[0][:, self.rests] = self.plant.random(4).uniform(-0.5, 0.5, axes)[self.rests]
        moved[1][:, self.rests] = moved[2][:, self.rests] = 0.0
        return moved

    def torque(self, moved: Motion) -> Array:
        """Return the torque without noise, shape (N, n)."""
        torque = torque_of(self._friction, self._key, self.body, self.values, moved)
        joint, centre = min(1, self.plant.axes - 1), self.plant.random(5).uniform(-1.0, 1.0)
        size = np.sqrt(np.mean(self._typical[:, joint] ** 2))
        torque[:, joint] -= self.plant.spring * size * np.sin(moved[0][:, joint] - centre)
        return torque

    def recording(self) -> Arrays:
        """Return the signals of the recording without flaw, but with resting joints."""
        plant, random = self.plant, self.plant.random(6)
        count = round(plant.seconds_recorded * plant.rate)
        moved = self.motion(7, count, plant.rate)
        torque = self.torque(moved)
        torque = torque + noise(plant.noise, plant.pole, torque, random)
        if plant.torque == 'current':
            step = CURRENT_STEP * np.abs(torque).max(axis=0)
            torque = np.round(torque / step) * step
        step = 2.0 * np.pi / 2**plant.bits
        position = moved[0] + 0.3 * step * random.normal(size=moved[0].shape)
        return {
            'time': np.arange(count) / plant.rate,
            'position': np.round(position / step) * step,
            'torque': torque,
        }

    def truth(self) -> tuple[Motion, Array]:
        """Return another motion and its torque without noise."""
        factor = self.plant.random(8).uniform(0.7, EXTRA)
        moved = self.motion(9, 1000, 50.0, factor)
        return moved, self.torque(moved)
