# SPDX-License-Identifier: Apache-2.0
"""Recordings of signals of drives, whose factor to torque is planted."""

from dataclasses import dataclass, replace

import numpy as np
from robots import dh_urdf
from simulation import arm, record

from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import payload_of
from robodyn_ros.recording.recording import Recording

CENTER = (0.08, -0.05, 0.12)


@dataclass(frozen=True)
class DrivenArm:
    """Arm with a vertical, two horizontal and a last axis, and the factors of its drives.

    :param factors: torque per unit of the signal, shape (4,)
    """

    xml: str
    model: DynamicModel
    values: Array
    factors: Array

    def record(self, mass: float = 0.0, *, seed: int = 0, noise: float = 0.01) -> Recording:
        """Record the signals of a motion with a load of this mass at `CENTER`."""
        load = payload_of(self.model, mass, center_of_mass=CENTER if mass else ())
        torque = record(
            self.model, self.values + load.added, 4000, seed=3, rate=100.0, derivatives=False
        )
        random = np.random.default_rng([8, seed])
        size = noise * torque.torque.std(axis=0)
        signal = (torque.torque + size * random.normal(size=torque.torque.shape)) / self.factors
        return replace(torque, torque=signal)


def driven_arm() -> DrivenArm:
    """Return the arm."""
    rows = [(0.0, 0.0, 0.3), (np.pi / 2, 0.1, 0.0), (0.0, 0.4, 0.0), (np.pi / 2, 0.0, 0.3)]
    xml = dh_urdf(rows)
    model, values = arm(xml)
    return DrivenArm(xml, model, values, np.array([0.25, -3.0, 1.4, 0.6]))
