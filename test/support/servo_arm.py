# SPDX-License-Identifier: Apache-2.0
"""Hobby arm in MuJoCo, whose drives control position: only positions are recorded.

The links are random around those of the URDF, gain, damping and delay of the drives, friction
and rotors are planted. MuJoCo closes the loop and integrates.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from robots import dh_urdf
from simulation import sines

from robodyn_ros.identification.result.mjcf import write_mjcf
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import Payload, payload_of
from robodyn_ros.recording.position_drive import PositionDrive
from robodyn_ros.recording.recording import Recording

STEP = 5e-4
COUNT = 2.0 * np.pi / 4096
"""Resolution of the encoder, 0.088 deg."""


@dataclass(frozen=True)
class ServoArm:
    """Arm of four joints of 0.1 m.

    :param gain: of the drives, shape (4,), in [Nm/rad]
    :param damping: of drives and joints, shape (4,), in [Nm s/rad]
    :param loss: Coulomb friction, shape (4,), in [Nm]
    :param delay: of commands, in [s]
    """

    xml: str
    model: DynamicModel
    values: Array
    gain: Array
    damping: Array
    loss: Array
    rotors: Array
    delay: float

    def load(self, mass: float, center: tuple[float, ...] = (0.02, -0.01, 0.05)) -> Payload:
        """Return a load at the last link."""
        inertia = (2e-4 * mass, 0.0, 0.0, 2e-4 * mass, 0.0, 2e-4 * mass)
        return payload_of(self.model, mass, center_of_mass=center, inertia=inertia)

    def record(
        self, mass: float = 0.0, *, seconds: float = 40.0, rate: float = 100.0, seed: int = 0
    ) -> Recording:
        """Record commanded and measured positions of a motion with a load."""
        values = self.values + (self.load(mass).added if mass else 0.0)
        columns = ('damping', self.damping), ('frictionloss', self.loss), ('armature', self.rotors)
        dynamics = {
            name: {key: float(each[joint]) for key, each in columns}
            for joint, name in enumerate(self.model.joint_names)
        }
        robot = mujoco.MjModel.from_xml_string(write_mjcf(self.model, values, dynamics))
        robot.opt.timestep, robot.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        robot.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
        every = round(1.0 / (rate * STEP))
        time, command, *_ = sines(4, round(seconds / STEP), rate=1.0 / STEP, seed=seed, size=0.7)
        late, data = max(round(self.delay / STEP), 0), mujoco.MjData(robot)
        data.qpos[:] = command[0]
        reached = np.empty_like(command)
        for row in range(len(command)):
            reached[row] = data.qpos
            counted = COUNT * np.round(data.qpos / COUNT)
            data.qfrc_applied[:] = self.gain * (command[max(row - late, 0)] - counted)
            mujoco.mj_step(robot, data)
        rows = slice(None, None, every)
        drive = PositionDrive(np.ones(4), np.zeros(4), known=False)
        measured = COUNT * np.round(reached[rows] / COUNT)
        torque = drive.torque(time[rows], command[rows], measured)
        return Recording(
            time[rows], self.model.joint_names, measured, torque, command=command[rows],
            drive=drive, source=f'{mass:g} kg',
        )  # fmt: skip


def servo_arm(seed: int) -> ServoArm:
    """Return a random arm."""
    random = np.random.default_rng([38, 2, seed])
    rows = [(0.0, 0.0, 0.06), (np.pi / 2, 0.02, 0.0), (0.0, 0.11, 0.0), (np.pi / 2, 0.0, 0.11)]
    xml = dh_urdf(rows, mass=0.12)
    for old, new in (('0.05 -0.03 0.1', '0.03 -0.01 0.04'), ('"0.02"', '"1.2e-4"'),
                     ('"0.001"', '"6e-6"'), ('"-0.002"', '"-1e-5"'), ('"0.03"', '"1.8e-4"'),
                     ('"0.003"', '"1e-5"'), ('"0.025"', '"1.5e-4"')):  # fmt: skip
        xml = xml.replace(old, new)
    model = robot_model(xml)
    values = np.nan_to_num(model.prior())
    links = {}
    for index, item in enumerate(model.parameters):
        body = item.name.rpartition('.')[0]
        values[index] *= links.setdefault(body, random.uniform(0.8, 1.2))
    fixed = [k for k, item in enumerate(model.parameters) if 'friction' in item.name]
    values[fixed] = 0.0
    spread = [(2.0, 20.0), (0.05, 0.4), (0.02, 0.08), (0.003, 0.02)]
    gain, damping, loss, rotors = (
        np.exp(random.uniform(*np.log(ends), size=4)) for ends in spread
    )
    delay = STEP * round(random.uniform(0.0, 0.03) / STEP)
    return ServoArm(xml, model, values, gain, damping, loss, rotors, delay)
