# SPDX-License-Identifier: Apache-2.0
"""Simulated COMAU NS16 with elastic joints, Stribeck and load-dependent friction.

Links are simulated in MuJoCo (`urdf/ns16.urdf`). Every joint has a motor, a spring and a damper
(M. Spong, "Modeling and control of elastic joint robots", 1987), and friction at the motor that
depends on speed and on the torque it transmits (A. C. Bittencourt and S. Gunnarsson, "Static
friction in a robot joint", 2012). The signals are those of a robot controller: motor positions and
motor torques, converted to the joint side. All parameters are joint-side. They were chosen once,
before any comparison, and not tuned:

- ROTOR: rotor and gear input, 1.5 to 3 kg cm^2 (motors of 3 kW) and 0.1 to 0.2 (of 0.4 kW), times
  the square of ratios of about 150 and 100: as much as the links behind it, as usual.
- STIFFNESS: catalogue of the smallest gear whose rated torque is above the nominal one, times 0.6
  for bearings and castings in series. Axes 1 to 3 RV-80E, RV-110E, RV-80E: 196, 294, 196 Nm per
  arcmin; axes 4 to 6 harmonic drives of size 25, 25, 20, first slope: 3.1e4, 3.1e4, 1.6e4 Nm/rad.
  With locked motors and the arm stretched out this gives first modes at 9 and 15 Hz, as usual.
- DAMPING: 5 % of critical with the links of a bent arm.
- COULOMB: a tenth of the nominal torque at axes 1 to 3, an eighth at the wrist: the size that the
  document identified (Table III, parameters 41 to 51: 34 to 95 and 5 to 11 Nm).
- VISCOUS: at full speed as much again as 0.8 COULOMB: gears of robots lose about as much by oil.
- STRIBECK: 40 % more when breaking away, gone above a few per cent of full speed.
- LOAD: an ideal gear loses nothing; RV gears lose some 4 %, harmonic drives some 7 % of what they
  transmit, and 8 % more of it at low speed, where teeth and needles run dry.
- NOISE: 0.5 % of the nominal torque, white, at every sample; encoders of 16 bits at the motor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from robodyn_ros.excitation.trajectory import Array, Trajectory
from robodyn_ros.recording.recording import Recording

URDF = Path(__file__).resolve().parent.parent / 'urdf' / 'ns16.urdf'
NOMINAL = np.array([545.0, 955.0, 488.0, 50.8, 55.3, 35.0])
"""Nominal torques [Nm], the reference of the percentages in Table II of the document."""
PEAK = 2.5 * NOMINAL
"""Peak torques of the drives: the effort limits of the URDF."""

BENT = np.array([65.0, 57.0, 7.3, 0.08, 0.044, 0.0015])
"""Link inertia [kg m^2] about each axis, for a bent arm."""
ROTOR = np.array([45.0, 60.0, 25.0, 1.6, 1.8, 0.6])
STIFFNESS = 0.6 * np.array([6.74e5, 1.01e6, 6.74e5, 3.1e4, 3.1e4, 1.6e4])
DAMPING = 0.1 * np.sqrt(STIFFNESS * BENT)
COULOMB = np.array([55.0, 95.0, 48.0, 6.3, 6.9, 4.4])
FULL_SPEED = np.array([2.7, 2.7, 2.97, 6.28, 6.1, 9.6])
VISCOUS = 0.8 * COULOMB / FULL_SPEED
STRIBECK = 0.4 * COULOMB
STRIBECK_SPEED = 0.02 * FULL_SPEED
STRIBECK_POWER = 1.3
LOAD = np.array([0.04, 0.04, 0.04, 0.07, 0.07, 0.07])
LOAD_STRIBECK = 0.08
TORQUE_NOISE = 0.005 * NOMINAL
ENCODER_STEP = 2.0 * np.pi / 2**16 / np.array([150.0, 150.0, 150.0, 100.0, 100.0, 100.0])

STEP = 5e-4
RATE = 250.0
"""Rate [Hz] of the records."""
SLOW, FAST = 15.0, 60.0
"""Bandwidths [1/s] of the position control (and of the integral part) and the velocity control."""
_EVERY = round(1.0 / (RATE * STEP))
_BLOCK = 2000


@dataclass(frozen=True)
class Run:
    """Signals of one motion, without noise: shapes (N,) and (N, 6), SI units.

    :param position: of the motors, geared down; `link` that of the links
    :param torque: of the motors, geared up
    :param reference: commanded positions of the motors
    """

    time: Array
    position: Array
    link: Array
    torque: Array
    reference: Array

    def recording(self, seed: int, repetitions: int = 1) -> Recording:
        """Return a recording, with noise averaged over a number of repetitions."""
        random = np.random.default_rng(seed)
        spread = TORQUE_NOISE / np.sqrt(repetitions)
        noise = random.normal(size=self.torque.shape) * spread
        return Recording(
            time=self.time,
            joints=tuple(f'joint{number}' for number in range(1, 7)),
            position=np.round(self.position / ENCODER_STEP) * ENCODER_STEP,
            torque=self.torque + noise,
            source='simulated NS16',
        )


def friction(velocity: Array, load: Array) -> Array:
    """Return the friction torque in [Nm] at motor velocities and transmitted torques, unsigned."""
    fading = np.exp(-(np.abs(velocity / STRIBECK_SPEED) ** STRIBECK_POWER))
    size = np.abs(load)
    return (
        COULOMB
        + VISCOUS * np.abs(velocity)
        + LOAD * size
        + (STRIBECK + LOAD_STRIBECK * size) * fading
    )


class Plant:
    """Several robots in parallel, each with another motion."""

    def __init__(self, *, friction: bool = True) -> None:
        """Load the links.

        :param friction: False: none at all, for tests
        """
        self._model = mujoco.MjModel.from_xml_path(str(URDF))
        self._model.opt.timestep = STEP
        # Links of a real robot never meet within its ranges: its controller holds it there.
        flags = mujoco.mjtDisableBit
        self._model.opt.disableflags = int(flags.mjDSBL_CONTACT | flags.mjDSBL_CONSTRAINT)
        self._friction = float(friction)
        self._model.dof_damping[:] = DAMPING

    def run(self, motions: Sequence[Trajectory]) -> list[Run]:
        """Simulate all motions, each from rest where it begins."""
        steps = [int(motion.duration / STEP) + 1 for motion in motions]
        order = np.argsort([-count for count in steps], kind='stable')
        lengths = np.array([steps[index] for index in order])
        cells = [mujoco.MjData(self._model) for _ in order]
        chosen = [motions[index] for index in order]
        state = self._at_rest(cells, np.array([m.sample(np.zeros(1)).position[0] for m in chosen]))
        records = self._simulate(cells, chosen, lengths, state)
        result: list[Run | None] = [None] * len(motions)
        for place, index in enumerate(order):
            count = (lengths[place] - 1) // _EVERY + 1
            rows = records[:count, :, place]
            time = np.arange(count) / RATE
            result[index] = Run(time, *(rows[:, k].copy() for k in range(4)))
        return [run for run in result if run is not None]

    def _at_rest(self, cells: list[mujoco.MjData], position: Array) -> Array:
        """Bring the links where gravity holds them with the motors at rest; torques (R, 6)."""
        torque = np.zeros(position.shape)
        for _ in range(5):
            for row, data in enumerate(cells):
                data.qpos[:] = position[row] - torque[row] / STIFFNESS
                data.qvel[:] = 0.0
                mujoco.mj_forward(self._model, data)
                torque[row] = data.qfrc_bias
        return torque

    def _simulate(
        self,
        cells: list[mujoco.MjData],
        motions: list[Trajectory],
        lengths: NDArray[np.intp],
        torque: Array,
    ) -> Array:
        """Records (N, 4, R, 6): motor and link position, motor torque, reference position.

        Robots are ordered by falling length, so that those still moving are the first ones.
        """
        start = np.array([motion.sample(np.zeros(1)).position[0] for motion in motions])
        motors = _Motors(start, torque, self._friction)
        records = np.zeros(((lengths[0] - 1) // _EVERY + 1, 4, *start.shape))
        for number in range(lengths[0]):
            if number % _BLOCK == 0:
                aims = _aims(motions[: int((lengths > number).sum())], number)
            alive = int((lengths > number).sum())
            rows, aim = slice(0, alive), aims[:, number % _BLOCK, :alive]
            link = np.array([data.qpos for data in cells[:alive]])
            turning = np.array([data.qvel for data in cells[:alive]])
            drive = motors.drive(rows, aim)
            if number % _EVERY == 0:
                records[number // _EVERY, :, rows] = motors.position[rows], link, drive, aim[0]
            spring = STIFFNESS * (motors.position[rows] - link)
            # of the damper, MuJoCo adds the part of the links
            push = spring + DAMPING * motors.speed[rows]
            for data, force in zip(cells[:alive], push, strict=True):
                data.qfrc_applied[:] = force
                mujoco.mj_step(self._model, data)
            motors.turn(rows, drive, push - DAMPING * turning)
        return records


class _Motors:
    """Motors of R robots with their velocity and position control, state of shape (R, 6)."""

    def __init__(self, position: Array, torque: Array, friction: float) -> None:
        self.position, self.speed = position.copy(), np.zeros(position.shape)
        self._integral, self._friction = torque.copy(), friction

    def drive(self, rows: slice, aim: Array) -> Array:
        """Torques that the control asks for, so as to follow the aim (3, ., 6)."""
        place, rate, change = aim
        inertia = ROTOR + BENT
        gain = FAST * inertia
        error = rate + SLOW * (place - self.position[rows]) - self.speed[rows]
        self._integral[rows] += gain * SLOW * error * STEP
        result: Array = gain * error + self._integral[rows] + inertia * change
        return result

    def turn(self, rows: slice, drive: Array, load: Array) -> None:
        """Go on by a step; friction brakes to a halt at most: a motor that it holds sticks."""
        speed = self.speed[rows]
        free = speed + STEP / ROTOR * (drive - load)
        held = STEP / ROTOR * self._friction * friction(speed, load)
        self.speed[rows] = np.sign(free) * np.maximum(np.abs(free) - held, 0.0)
        self.position[rows] += STEP * self.speed[rows]


def _aims(motions: Sequence[Trajectory], first: int) -> Array:
    """References (3, T, R, 6) of the next steps."""
    time = STEP * np.arange(first, first + _BLOCK)
    wanted = [motion.sample(time) for motion in motions]
    return np.stack([[w.position, w.velocity, w.acceleration] for w in wanted], axis=2)
