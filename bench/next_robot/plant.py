# SPDX-License-Identifier: Apache-2.0
"""Description of a random plant, reproducible by seed and number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from next_robot.flaws import FLAWS

TORQUES = ('current', 'motor', 'sensor')
FRICTION = ('linear', 'stribeck', 'load', 'asymmetric', 'root', 'ripple')


@dataclass(frozen=True)
class Plant:
    """A robot and its measurement.

    :param torque: measured by motor current, at the motor (exact), or by joint sensors
    :param masses: largest factor between the links of the robot and of its URDF
    :param spring: torque of a spring balancer at joint 1 or 2, relative to its RMS torque
    :param flaw: of the recording, a name in FLAWS
    """

    seed: int
    number: int
    axes: int
    rate: float
    seconds_recorded: float
    speed: float
    bits: int
    torque: str
    friction: str
    noise: float
    pole: float
    masses: float
    spring: float
    flaw: str

    @classmethod
    def of(cls, seed: int, number: int) -> Plant:
        """Draw a plant; those of odd numbers have a flaw, each flaw in turn."""
        random = np.random.default_rng([101, seed, number])
        names = [name for name in FLAWS if name]
        flaw = names[number // 2 % len(names)] if number % 2 else ''
        axes = int(random.integers(FLAWS[flaw].axes, 8))
        seconds = float(random.choice([10.0, 20.0, 40.0]))
        return cls(
            seed=seed,
            number=number,
            axes=axes,
            rate=float(random.choice([50.0, 100.0, 125.0, 250.0, 500.0, 1000.0, 2000.0])),
            seconds_recorded=float(random.uniform(1.5, 3.0)) if flaw == 'short' else seconds,
            speed=float(random.choice([0.3, 1.0, 2.0])),
            bits=int(random.integers(12, 21)),
            torque=str(random.choice(TORQUES)),
            friction=str(random.choice(FRICTION)),
            noise=float(random.choice([0.005, 0.02, 0.05])),
            pole=float(random.choice([0.0, 0.9])),
            masses=float(random.choice([1.2, 1.2, 1.2, 3.0])),
            spring=float(random.choice([0.0, 0.0, 0.0, 0.6])),
            flaw=flaw,
        )

    def random(self, purpose: int) -> np.random.Generator:
        """Return the random numbers of one purpose."""
        return np.random.default_rng([103, self.seed, self.number, purpose])
