# SPDX-License-Identifier: Apache-2.0
"""Robot cell: mechanics, drives and measurement, computed per servo cycle."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.driver import Driver, DriverConfig
from robodyn_ros.cell.drives import SimulatedDrives
from robodyn_ros.cell.imperfections import Imperfections
from robodyn_ros.cell.plant import Plant
from robodyn_ros.errors import CellError, UnstableError

Array = NDArray[np.float64]


class CellState(NamedTuple):
    """State at the end of a servo cycle; arrays of shape (n,), SI and joint-side.

    :param time: of the sample since reset, with the jitter of the cycles, in [s]
    :param position: from the encoders, in [rad] or [m]
    :param velocity: the drives' estimate, in [rad/s] or [m/s]
    :param torque: measured motor torque, with noise, in [Nm] or [N]; in other units or without
        gravity as the driver reports it
    :param plant_position: true position of the links, in [rad] or [m]
    :param plant_velocity: true velocity of the links, in [rad/s] or [m/s]
    :param plant_torque: torque of the drives, without noise and ripple, in [Nm] or [N]
    """

    time: float
    position: Array
    velocity: Array
    torque: Array
    plant_position: Array
    plant_velocity: Array
    plant_torque: Array


class RobotCell:
    """A simulated robot with drives; `config`, `plant` and `drives` describe the model.

    `late` is the jitter of the last sample, in [s].
    """

    def __init__(self, config: CellConfig) -> None:
        """Load the robot and tune its drives.

        :raises CellError: the configuration or the URDF cannot be used
        """
        self.config = config
        self.plant = Plant(config)
        self.axes = self.plant.axes
        self.joints = self.plant.names
        self.links = self.plant.links
        self.period = config.servo_period
        self.drives = SimulatedDrives(
            axes=self.axes,
            inertia=self.plant.inertia(self.plant.middle()),
            period=config.servo_period,
            substeps=config.substeps,
            delay=config.command_delay,
        )
        self._imperfections = Imperfections(
            self.axes, period=self.period, jitter=config.cycle_jitter, seed=config.seed
        )
        self._driver: Driver | None = None
        if config.driver != DriverConfig():
            self._driver = Driver(config.driver, self.joints, self.plant.gravity)
        self._noise = self.axes['torque_noise'] * self.axes['rated_torque']
        self.reset()

    def reset(self) -> CellState:
        """Return to rest at the initial position, with initial time and noise."""
        self._random = np.random.default_rng(self.config.seed)
        self._cycle = 0
        self._pushes: list[tuple[int, int, Array]] = []
        self.plant.reset()
        self._imperfections.reset()
        self.drives.reset(self.plant.encoder_position())
        self.late = self._imperfections.late() * self.period
        self.state = self._measure(np.zeros(len(self.joints)))
        return self.state

    def step(self, position_command: ArrayLike, additive_torque: ArrayLike) -> CellState:
        """Run one servo cycle.

        :param position_command: shape (n,), in [rad] or [m]
        :param additive_torque: torque offset of the drives, shape (n,), in [Nm] or [N], or in the
            unit of the driver
        :raises CellError: a command of the wrong length or that is not finite
        :raises UnstableError: the mechanics cannot follow; the cell is reset
        """
        command = self._check_values('position command', position_command)
        offset = self._check_values('additive torque', additive_torque)
        if self._pushes:
            self._end_pushes()
        drives, plant, imperfections = self.drives, self.plant, self._imperfections
        if self._driver is not None:
            offset = self._driver.torque(offset, drives.position)
        duration = self._next_cycle()
        drives.command(command, offset, duration)
        if imperfections.warms:
            plant.scale_friction(imperfections.friction(plant.motor_velocity))
        ripples, motors = imperfections.ripples, plant.motor_position
        try:
            for _ in range(self.config.substeps):
                torque = drives.torque()
                plant.step(torque + imperfections.ripple(motors) if ripples else torque)
                drives.measure(plant.encoder_position())
        except UnstableError:
            self.reset()
            raise
        self._cycle += 1
        self.state = self._measure(torque)
        return self.state

    def _next_cycle(self) -> float:
        """Return the duration of the next cycle, relative to the servo period."""
        before, self.late = self.late, self._imperfections.late() * self.period
        duration = 1.0 + (self.late - before) / self.period
        self.plant.stretch(duration)
        return duration

    def push(self, link: str, force: ArrayLike, torque: ArrayLike, duration: float) -> float:
        """Push a link from the next cycle on, like a person or an obstacle.

        :param link: name of the link; '' is the last one
        :param force: at the link's centre of mass, world frame, shape (3,), in [N]
        :param torque: world frame, shape (3,), in [Nm]
        :param duration: in [s], rounded to servo cycles, at least one
        :return: cell time at which the push starts, in [s]
        :raises CellError: unknown link, or values that are not finite
        """
        if link and link not in self.links:
            raise CellError(f'there is no link {link!r}, the robot has {list(self.links)}')
        number = self.links.index(link) if link else self._last_link()
        wrench = np.concatenate([np.asarray(part, dtype=float) for part in (force, torque)])
        if wrench.shape != (6,) or not np.isfinite(wrench).all():
            raise CellError(f'a push needs a force and a torque of 3 numbers, got {wrench}')
        if not (math.isfinite(duration) and duration > 0.0):
            raise CellError(f'a push needs a duration above 0 s, got {duration}')
        end = self._cycle + max(1, round(duration / self.period))
        self._pushes.append((end, number, wrench))
        self._apply_pushes()
        return self._cycle * self.period

    def _last_link(self) -> int:
        """Return the index of the body of the last joint (frames fixed to it have no mass)."""
        return int(self.plant.model.jnt_bodyid[-1]) - 1

    def _end_pushes(self) -> None:
        if any(end <= self._cycle for end, _, _ in self._pushes):
            self._pushes = [push for push in self._pushes if push[0] > self._cycle]
            self._apply_pushes()

    def _apply_pushes(self) -> None:
        total = np.zeros((len(self.links), 6))
        for _, number, wrench in self._pushes:
            total[number] += wrench
        for number, wrench in enumerate(total):
            self.plant.set_wrench(number, wrench)

    def _check_values(self, what: str, values: ArrayLike) -> Array:
        array = np.asarray(values, dtype=float)
        if array.shape != (len(self.joints),):
            raise CellError(
                f'a {what} needs {len(self.joints)} values, one per joint, got {array.shape}'
            )
        if not math.isfinite(array.sum()):
            joint = int(np.argmin(np.isfinite(array)))
            raise CellError(f'the {what} of joint {self.joints[joint]!r} is {array[joint]}')
        return array

    def _measure(self, torque: Array) -> CellState:
        noise = self._random.standard_normal(len(self.joints))
        noise *= self._noise
        noise += torque
        noise = self._imperfections.quantise_torque(noise)
        if self._driver is not None:
            noise = self._driver.effort(noise, self.drives.position)
        return CellState(
            self._cycle * self.period + self.late,
            self.drives.position.copy(),
            self.drives.velocity.copy(),
            noise,
            self.plant.position.copy(),
            self.plant.velocity.copy(),
            torque,
        )
