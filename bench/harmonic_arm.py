# SPDX-License-Identifier: Apache-2.0
"""Simulated six-axis arm with harmonic drives and encoders on both sides of each drive.

The links are those of urdf/ur10.urdf with a tool of 3 kg (Pinocchio); everything between motor and
link is here and shares nothing with the models under test. Gears: CSF-32, 32, 25, 17, 17, 17 with
ratio 100, whose repeated peak torques (333, 157, 54 Nm) are those of the joints. Their figures
were written down before the first run and kept, but for the two ripples (see there).

- Flexspline: K1, K2, K3 below T1, T2 and above, and hysteresis loss: Harmonic Drive catalogue CSF,
  "Torsional stiffness", "Hysteresis loss" (1 arcmin).
- Wave generator: it gives way to all torque that passes, that of the mesh friction included,
  sign(t) w (1 - exp(-|t| / F)): Zhang, Ahmad and Liu, "Torque estimation for robotic joint with
  harmonic drive transmission based on position measurements" (2015). This makes the hysteresis;
  w is such that the friction F of the gear at rest leaves half of the hysteresis loss.
- Kinematic error: two waves per turn of the motor, amplitude an eighth of the catalogue's
  positioning accuracy (1 arcmin; size 17: 1.5), which shakes the link and makes load ripple;
  torque ripple of the motor: 0.5 % of the peak torque, six waves per turn. First written down were
  four times and twice as much: plain least squares then left more (3.8, 3.2 and 1.5 Nm on joints
  1 to 3) than in the UR10 recording (2.3, 1.9, 1.4 Nm), so both were reduced.
- Friction of the motor side: Coulomb, a root of the speed and 4.5 % of the load, as a fit finds
  them in the UR10 recording of unisa-acg/inverse-dynamics-solver.
- Rotors: wave generator of the catalogue and a motor of the same inertia.
- Encoders: 20 bit on the link, 17 bit on the motor; noise of half a step. Torque: from the
  current, noise 0.3 % of the peak torque.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROOT = Path(__file__).resolve().parent.parent
RATIO = 100.0
RATE = 500.0
"""Rate of the recording, in [Hz]."""
STEP = 1.0 / 2500.0
"""Step of the integration, in [s]."""
ARCMIN = np.pi / 180.0 / 60.0
ENDS = (
    np.array([29.0, 29.0, 14.0, 3.9, 3.9, 3.9]),
    np.array([108.0, 108.0, 48.0, 12.0, 12.0, 12.0]),
)
"""T1 and T2, in [Nm]."""
STIFFNESS = 1e4 * np.array(
    [
        [6.7, 6.7, 3.1, 1.0, 1.0, 1.0],
        [11.0, 11.0, 5.0, 1.4, 1.4, 1.4],
        [12.0, 12.0, 5.7, 1.6, 1.6, 1.6],
    ]
)
"""K1, K2 and K3, in [Nm/rad]."""


def _six(*values: float) -> Array:
    return np.array(values)


@dataclass(frozen=True)
class Gears:
    """Parameters of the six joints, joint side, SI units; see the docstring of this file."""

    peak: Array = field(default_factory=lambda: _six(333, 333, 157, 54, 54, 54))
    rotor: Array = field(default_factory=lambda: _six(3.38, 3.38, 0.826, 0.158, 0.158, 0.158))
    coulomb: Array = field(default_factory=lambda: _six(6.7, 7.5, 2.0, 1.1, 1.5, 0.6))
    root: Array = field(default_factory=lambda: _six(23.7, 22.0, 15.1, 5.2, 3.6, 5.6))
    load: float = 0.045
    hysteresis: float = ARCMIN
    accuracy: Array = field(default_factory=lambda: ARCMIN * _six(1, 1, 1, 1.5, 1.5, 1.5))
    waves: float = 0.125
    motor_ripple: float = 0.005
    torque_noise: float = 0.003
    link_step: float = 2.0 * np.pi / 2**20
    motor_step: float = 2.0 * np.pi / 2**17 / RATIO


@dataclass(frozen=True)
class Measured:
    """Signals of the drives of one arm, at RATE; shape (N, 6), joint side.

    :param motor: motor position divided by the gear ratio, in [rad]
    :param torque: motor torque times the gear ratio, in [Nm]
    """

    time: Array
    link: Array
    motor: Array
    torque: Array


class HarmonicArms:
    """Several arms with different motions, in one Python loop over time."""

    def __init__(self, seeds: list[int], gears: Gears | None = None) -> None:
        """Build the plant; phases of the ripples differ by seed."""
        self.gears = gears or Gears()
        self.model = pin.buildModelFromUrdf(str(ROOT / 'urdf' / 'ur10.urdf'))
        tool = pin.Inertia(3.0, np.array([0.02, 0.01, 0.08]), np.diag([0.012, 0.011, 0.009]))
        self.model.inertias[6] = self.model.inertias[6] + tool
        self._data = self.model.createData()
        self._random = [np.random.default_rng([23, seed]) for seed in seeds]
        self._phase = np.array([random.uniform(0, 2 * np.pi, (2, 6)) for random in self._random])
        self._give = 0.5 * self.gears.hysteresis / (1.0 - np.exp(-1.0))
        inertia = pin.crba(self.model, self._data, np.zeros(6)).diagonal() + self.gears.rotor
        self._gain = inertia * (2.0 * np.pi * 8.0) ** 2, inertia * 2.0 * 2.0 * np.pi * 8.0

    def run(self, position: Array, velocity: Array) -> list[Measured]:
        """Drive every arm along its motion.

        :param position: of the joints, one row per step of the integration, (N, arms, 6), in [rad]
        :param velocity: the same, in [rad/s]
        """
        every = round(1.0 / (RATE * STEP))
        q, qd = position[0].copy(), velocity[0].copy()
        load = np.array([pin.rnea(self.model, self._data, row, 0 * row, 0 * row) for row in q])
        twist = self._flexspline(load)[0] + self._wave_generator(load)[0]
        theta, speed = q + twist, qd.copy()
        rows = []
        for step in range(len(position)):
            torque = self._servo(position[step] - theta, velocity[step] - speed)
            if step % every == 0:
                rows.append(np.stack([q, theta, torque]))
            load, friction, share = self._transmitted(theta, speed, q, qd, load)
            speed = speed + STEP * (torque - friction - share * load) / self.gears.rotor
            for arm in range(len(q)):
                qd[arm] += STEP * pin.aba(self.model, self._data, q[arm], qd[arm], load[arm])
            q, theta = q + STEP * qd, theta + STEP * speed
        return self._measured(np.array(rows))

    def _servo(self, error: Array, rate: Array) -> Array:
        """Return the torque of the position controller, with the encoder of the motor."""
        return self._gain[0] * error + self._gain[1] * rate

    def _transmitted(
        self, theta: Array, speed: Array, q: Array, qd: Array, load: Array
    ) -> tuple[Array, Array, Array]:
        """Return torque on the link, friction, and the torque on the motor."""
        gears = self.gears
        direction = np.tanh(speed / 0.005)
        friction = direction * (
            gears.coulomb + gears.root * np.sqrt(np.abs(speed)) + gears.load * np.abs(load)
        )
        turn = 2.0 * RATIO * theta + self._phase[:, 0]
        error = gears.waves * gears.accuracy * np.sin(turn)
        slope = gears.waves * gears.accuracy * 2.0 * RATIO * np.cos(turn)
        damping = 0.05 * 2.0 * np.sqrt(STIFFNESS[0] * gears.rotor)
        fresh = self._passed(theta - error - q, load, friction)
        return fresh + damping * (speed - qd), friction, 1.0 - slope

    def _passed(self, twist: Array, torque: Array, friction: Array) -> Array:
        """Return the torque for a twist of flexspline and wave generator, by Newton iteration."""
        for _ in range(3):
            give, softness = self._wave_generator(torque + friction)
            stretch, compliance = self._flexspline(torque)
            torque = torque + (twist - give - stretch) / (softness + compliance)
        return torque

    def _flexspline(self, torque: Array) -> tuple[Array, Array]:
        """Return the twist under a torque, and its slope."""
        size = np.abs(torque)
        lower, upper = ENDS
        twist = np.minimum(size, lower) / STIFFNESS[0]
        twist += np.clip(size - lower, 0.0, upper - lower) / STIFFNESS[1]
        twist += np.maximum(size - upper, 0.0) / STIFFNESS[2]
        stiffness = np.where(size < lower, STIFFNESS[0], STIFFNESS[1])
        stiffness = np.where(size < upper, stiffness, STIFFNESS[2])
        return np.sign(torque) * twist, 1.0 / stiffness

    def _wave_generator(self, torque: Array) -> tuple[Array, Array]:
        """Return the twist under a torque, and its slope."""
        left = np.exp(-np.abs(torque) / self.gears.coulomb)
        slope = self._give / self.gears.coulomb * left
        return np.sign(torque) * self._give * (1.0 - left), slope

    def _measured(self, rows: Array) -> list[Measured]:
        """Add ripple, noise and encoder steps to the true signals (N, 3, arms, 6)."""
        gears, found = self.gears, []
        for arm, random in enumerate(self._random):
            link, motor, torque = rows[:, 0, arm], rows[:, 1, arm], rows[:, 2, arm]
            turn = 6.0 * RATIO * motor + self._phase[arm, 1]
            torque = torque + gears.motor_ripple * gears.peak * np.sin(turn)
            torque = torque + gears.torque_noise * gears.peak * random.normal(size=torque.shape)
            seen = []
            for angle, step in ((link, gears.link_step), (motor, gears.motor_step)):
                noisy = angle + 0.5 * step * random.normal(size=angle.shape)
                seen.append(step * np.round(noisy / step))
            found.append(Measured(np.arange(len(link)) / RATE, seen[0], seen[1], torque))
        return found
