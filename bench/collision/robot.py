# SPDX-License-Identifier: Apache-2.0
"""Robots of the collision bench: an industrial and a cobot version of the six-axis arm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import robodyn_ros as rd
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.robot_file import load_robot

RATED = np.array([420.0, 560.0, 260.0, 44.0, 40.0, 22.0])
ROTOR = np.array([14.0, 18.0, 7.0, 1.1, 0.85, 0.32])
SPEED = np.array([2.5, 2.5, 2.8, 5.5, 5.5, 7.5])
HARD = np.array([6.0, 5.0, 7.0, 18.0, 18.0, 25.0])


@dataclass(frozen=True)
class Robot:
    """Mechanics and drives; torque and inertia on the joint side.

    :param scale: mass, rotor inertia and rated torque relative to the six-axis cell
    :param coulomb: Coulomb friction relative to the rated torque
    :param viscous: viscous friction at full speed relative to the rated torque
    :param warming: friction of the cold robot above that of the warm one, as a share
    :param gear: frequency of the link on its gear with locked rotor, in [Hz]
    :param noise: of the current, standard deviation relative to the rated torque
    :param bandwidth: of the velocity loop, in [Hz]
    """

    name: str
    scale: float
    coulomb: float
    viscous: float
    warming: float
    gear: float
    noise: float
    bandwidth: float
    limits: tuple[Array, Array] = (SPEED, HARD)

    @cached_property
    def urdf(self) -> Path:
        """URDF of the arm."""
        return Path(load_robot('six_axis').urdf)

    @cached_property
    def body(self) -> DynamicModel:
        """Rigid bodies without friction and rotor inertia."""
        return rd.load_model(self.urdf, friction=())

    @cached_property
    def values(self) -> Array:
        """Values of the bodies, shape (p,): those of the URDF, off by some percent; no rotors."""
        random = np.random.default_rng(len(self.name))
        values = np.nan_to_num(self.body.prior()) * self.scale
        factors: dict[str, float] = {}
        for index, item in enumerate(self.body.parameters):
            link, _, suffix = item.name.rpartition('.')
            values[index] *= factors.setdefault(link, float(random.uniform(0.9, 1.1)))
            if suffix == 'rotor_inertia':
                values[index] = 0.0
        return values

    @cached_property
    def inertia(self) -> Array:
        """Mean inertia of the links that each joint moves, shape (n,), in [kg m^2]."""
        q = np.random.default_rng(1).uniform(-1.0, 1.0, (200, 6))
        still, mean = np.zeros_like(q), np.zeros(6)
        rest = self.body.torque(q, still, still, self.values)
        for joint in range(6):
            push = np.zeros_like(q)
            push[:, joint] = 1.0
            moved = self.body.torque(q, still, push, self.values)
            mean[joint] = (moved - rest)[:, joint].mean()
        return mean

    @property
    def rated(self) -> Array:
        """Rated torque, shape (n,), in [Nm]."""
        return self.scale * RATED

    @property
    def rotor(self) -> Array:
        """Rotor inertia, shape (n,), in [kg m^2]."""
        return self.scale * ROTOR


ROBOTS = {
    'industrial': Robot('industrial', 1.0, 0.09, 0.09, 0.25, 18.0, 0.006, 40.0),
    'cobot': Robot('cobot', 0.25, 0.14, 0.14, 0.35, 9.0, 0.012, 25.0),
}
