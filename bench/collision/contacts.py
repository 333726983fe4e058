# SPDX-License-Identifier: Apache-2.0
"""Contacts of the collision bench: obstacles in the way, and pushes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from collision.motion import Path
from collision.robot import Robot
from robodyn_ros.models.interface import Array

KINDS = ('stiff', 'soft', 'constrained', 'standstill', 'reversal')
EVERY, LENGTH = 6.0, 0.5
FORCE = 200.0
LOOK = 100
"""Steps after the onset of which the torque of a contact is kept."""


@dataclass(frozen=True)
class Contact:
    """One contact.

    :param robot: number of the robot
    :param start: first step
    :param kind: of KINDS; constrained: a point of the robot is held in all directions
    :param lever: torque on the joints per N in each direction of the force, shape (1 or 3, n)
    :param stiffness: of an obstacle, in [N/m]; 0: a push
    :param rate: of the force of a push, in [N/s]
    """

    robot: int
    start: int
    kind: str
    lever: Array
    stiffness: float
    rate: float


class Contacts:
    """All contacts of some robots, at most one per robot at a time.

    :ivar onset: first step of force of each contact; -1: there was none
    :ivar steepest: largest rate of the external torque of a joint in the first 50 ms, in [Nm/s]
    :ivar course: absolute external torque after the onset, shape (contacts, LOOK, n), in [Nm]
    """

    def __init__(self, contacts: Sequence[Contact], robots: int) -> None:
        """Sort the contacts by time."""
        self.all = sorted(contacts, key=lambda each: each.start)
        self.onset = np.full(len(self.all), -1)
        self.steepest = np.zeros(len(self.all))
        self.course = np.zeros((len(self.all), LOOK, 6))
        self._next = 0
        self._lever = np.zeros((robots, 3, 6))
        self._origin, self._before = np.zeros((2, robots, 6))
        self._stiffness, self._rate = np.zeros((2, robots))
        self._held = np.zeros(robots, dtype=bool)
        self._end, self._start = np.full(robots, -1), np.zeros(robots, dtype=int)
        self._number = np.zeros(robots, dtype=int)

    def torque(self, step: int, link: Array) -> Array:
        """Return the external torque on the links, shape (robots, n), in [Nm]."""
        while self._next < len(self.all) and self.all[self._next].start <= step:
            self._begin(self.all[self._next], step, link)
            self._next += 1
        active = self._end > step
        depth = np.einsum('rij,rj->ri', self._lever, link - self._origin)
        depth = np.where(self._held[:, None], depth, np.maximum(depth, 0.0))
        force = self._stiffness[:, None] * depth
        force[:, 0] += np.minimum(self._rate * (step - self._start) * 1e-3, FORCE)
        torque = -np.einsum('ri,rij->rj', force * active[:, None], self._lever)
        self._note(step, torque)
        return torque

    def _begin(self, contact: Contact, step: int, link: Array) -> None:
        robot = contact.robot
        self._lever[robot], self._origin[robot] = 0.0, link[robot]
        self._lever[robot, : len(contact.lever)] = contact.lever
        self._held[robot] = contact.kind == 'constrained'
        self._stiffness[robot], self._rate[robot] = contact.stiffness, contact.rate
        self._start[robot], self._end[robot] = step, step + round(LENGTH * 1e3)
        self._number[robot], self._before[robot] = self._next, 0.0

    def _note(self, step: int, torque: Array) -> None:
        rows = np.flatnonzero(torque.any(axis=1))
        number, size = self._number[rows], np.abs(torque[rows])
        fresh = self.onset[number] < 0
        self.onset[number[fresh]] = step
        since = step - self.onset[number]
        most = 1e3 * np.abs(torque[rows] - self._before[rows]).max(axis=1)
        steep = number[~fresh & (since <= 50)]
        self.steepest[steep] = np.maximum(self.steepest[steep], most[~fresh & (since <= 50)])
        early = since < LOOK
        self.course[number[early], since[early]] = size[early]
        self._before[:] = torque


def drawn(
    robot: Robot, paths: Sequence[Path], seconds: float, random: np.random.Generator
) -> Contacts:
    """Draw contacts: one of each robot about every 6 s."""
    model = pin.buildModelFromUrdf(str(robot.urdf))
    data, found = model.createData(), []
    for number, path in enumerate(paths):
        for start in np.arange(4.0, seconds - 4.0, EVERY):
            found.append(_contact(model, data, robot, number, path, start, random))
    return Contacts([each for each in found if each is not None], len(paths))


def _contact(
    model: pin.Model, data: pin.Data, robot: Robot, number: int, path: Path, start: float,
    random: np.random.Generator,
) -> Contact | None:  # fmt: skip
    kind = str(random.choice(KINDS))
    time = start + np.arange(0.0, 3.5, 0.01)
    q, v, _ = path.at(time)
    speed = np.abs(v) / robot.limits[0]
    if kind == 'standstill':
        chosen = np.flatnonzero(speed.max(axis=1) < 1e-6)
    elif kind == 'reversal':  # a joint turns while another one moves
        turned = (v[1:] * v[:-1] < 0.0).any(axis=1) & (speed[1:].max(axis=1) > 0.1)
        chosen = np.flatnonzero(turned)
    else:
        chosen = np.flatnonzero(speed.max(axis=1) > 0.1)
    if not len(chosen):
        return None
    row = int(random.choice(chosen))
    pin.computeJointJacobians(model, data, q[row])
    joint = int(random.integers(3, 7))
    arm = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
    offset = data.oMi[joint].rotation @ random.uniform(-0.15, 0.15, 3)
    lever = arm[:3] - pin.skew(offset) @ arm[3:]
    direction = random.normal(size=3)
    moving = lever @ v[row]
    if kind != 'standstill' and np.linalg.norm(moving) > 1e-3:
        direction = moving / np.linalg.norm(moving) + 0.3 * direction
    direction /= np.linalg.norm(direction)
    joints = direction @ lever
    at = round(time[row] * 1e3)
    if kind == 'standstill':
        rate = float(np.exp(random.uniform(np.log(25.0), np.log(600.0)))) / np.abs(joints).max()
        return Contact(number, at, kind, joints[None], 0.0, rate)
    ranges = {
        'soft': (3e2, 1e4),
        'constrained': (3e3, 3e4),
    }  # stiffer: not stable in steps of 1 ms
    low, high = ranges.get(kind, (5e4, 2e5))
    stiffness = float(np.exp(random.uniform(np.log(low), np.log(high)))) * robot.scale**0.5
    levers = lever if kind == 'constrained' else joints[None]
    return Contact(number, at, kind, levers, stiffness, 0.0)
