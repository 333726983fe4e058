# SPDX-License-Identifier: Apache-2.0
"""Position actuators of an MJCF, and their motion against a recorded one."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn_ros.bounds import parse_xml
from robodyn_ros.recording.recording import Recording

STEP = 1e-3
"""Longest time step of the simulation, in [s]: a hundredth of the fastest motion of a servo."""

LONGEST = 120.0
"""Longest motion that is simulated, in [s]: for the figures only."""


def add_actuators(text: str, gain: Mapping[str, float]) -> str:
    """Return the MJCF with a proportional position actuator for each joint with a gain.

    The damping of the drive is in that of the joint (kv is 0). The torque is limited by
    actuatorfrcrange of the joint, from the URDF: a recording does not show a limit that it does
    not reach.

    :param gain: kp by joint, in [Nm/rad] or [N/m]
    """
    root = parse_xml(text)
    actuators = ET.SubElement(root, 'actuator')
    for joint, value in gain.items():
        attributes = {'name': joint, 'joint': joint, 'kp': repr(float(value)), 'kv': '0'}
        ET.SubElement(actuators, 'position', attributes)
    ET.indent(root)
    return ET.tostring(root, encoding='unicode') + '\n'


def replay_error(text: str, recording: Recording, *, delayed: bool = True) -> dict[str, float]:
    """Return the RMS error of the positions that MuJoCo reaches with the commands, by joint.

    :param text: MJCF with an actuator for each joint
    :param recording: with commanded positions
    :param delayed: commands take effect after the delay of the drives
    """
    import mujoco  # it takes a quarter of a second, and only this needs it

    assert recording.command is not None and recording.drive is not None
    robot: Any = mujoco.MjModel.from_xml_string(text)
    robot.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    robot.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data: Any = mujoco.MjData(robot)
    joints = [robot.joint(name) for name in recording.joints]
    at, speed = ([int(each[0]) for each in kind] for kind in (
        [each.qposadr for each in joints], [each.dofadr for each in joints]))  # fmt: skip
    drives = [robot.actuator(name).id for name in recording.joints]
    time = recording.time[recording.time <= recording.time[0] + LONGEST]
    delay = recording.drive.delay if delayed else np.zeros(len(joints))
    count = int(np.ceil((time[-1] - time[0]) / STEP))
    grid = np.linspace(time[0], time[-1], count + 1)
    commands = np.column_stack([
        np.interp(grid - late, recording.time, each)
        for late, each in zip(delay, np.asarray(recording.command).T, strict=True)
    ])  # fmt: skip
    robot.opt.timestep = grid[1] - grid[0]
    data.qpos[at] = recording.position[0]
    data.qvel[speed] = 0.0
    reached = np.empty_like(commands)
    for row, command in enumerate(commands):
        reached[row] = data.qpos[at]
        data.ctrl[drives] = command
        mujoco.mj_step(robot, data)
    shown = np.column_stack([np.interp(time, grid, each) for each in reached.T])
    error = np.sqrt(np.mean((shown - recording.position[: len(time)]) ** 2, axis=0))
    return dict(zip(recording.joints, error.tolist(), strict=True))
