# SPDX-License-Identifier: Apache-2.0
"""Six-axis cell (MuJoCo) with an identified model, pushes, payloads and warming friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import mujoco
import numpy as np
from tracking_cell import CONFIG, parameters, run, some_robot

from robodyn_ros.analysis.collision_thresholds import propose_thresholds
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.jacobians import LinkJacobians
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part
from robodyn_ros.recording.recording import Recording

PERIOD = 0.002
SURFACES = {
    'link3': ((0.06, 0.015, 0.115), 0.1, 0.36),
    'link4': ((0.165, 0.005, 0.0), 0.065, 0.32),
    'link5': ((0.025, 0.0, -0.004), 0.05, 0.12),
    'link6': ((0.003, 0.0, 0.002), 0.04, 0.024),
}
"""Cylinders along x of the links beyond joint 3, as in the URDF: middle, radius, length [m]."""


def wave(seconds: float, seed: int) -> Array:
    """A smooth motion from rest at zero, position of shape (N, 6), in [rad]."""
    random = np.random.default_rng(seed)
    time = np.arange(round(seconds / PERIOD))[:, None] * PERIOD
    size, rate, phase = (
        random.uniform(*each, (3, 6)) for each in ((0.2, 0.5), (0.9, 3.1), (0, 6))
    )
    x = np.minimum(1.0, time / 2.0)
    fade = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    return np.asarray(
        fade * sum(a * np.sin(w * time + p) for a, w, p in zip(size, rate, phase, strict=True))
    )


@dataclass
class Robot:
    """One robot with friction and rotors of its own, and its identified model."""

    seed: int

    @cached_property
    def result(self) -> IdentificationResult:
        """Identification from the 20 s of the robot's example program."""
        model = robot_model(CONFIG.parent / 'urdf' / 'six_axis.urdf')
        given = parameters('excitation', 'six_axis')['motion']
        seen = run(self.config, build_motion({'joints': list(model.joint_names), **given}))
        rows = (seen.time >= 0.0) & (seen.time <= 20.0)
        return identify(
            Recording(
                time=seen.time[rows], joints=model.joint_names, position=seen.position[rows],
                torque=seen.torque[rows], source='six-axis cell',
            ),
            model,
        )  # fmt: skip

    @cached_property
    def config(self):
        return some_robot('six_axis', self.seed)

    def torque(self) -> ModelTorque:
        return ModelTorque(self.result.model, self.result.values, velocity_window=0.01)

    @cached_property
    def links(self) -> LinkJacobians:
        body = rigid_part(self.result.model)
        assert isinstance(body, UrdfModel)
        return LinkJacobians(body)

    def settings(self, warmth: Sequence[float] = (1.0,)) -> CollisionSettings:
        """Thresholds of healthy motion, 20 s at each of these friction factors."""
        base = CollisionSettings(joints=self.links.joints, max_torque_error=1e6)
        found = [
            propose_thresholds(self.record(wave(20.0, 100 + k), factor), self.torque(), base)
            for k, factor in enumerate(warmth)
        ]
        return replace(
            base,
            max_torque_error=np.max([each.max_torque_error for each in found], axis=0),
            contact_threshold=np.max([each.contact_threshold for each in found], axis=0),
            low_velocity_torque=np.max([each.low_velocity_torque for each in found], axis=0),
        )

    def record(self, motion: Array, factor: float) -> Recording:
        """Record a healthy motion."""
        cell = RobotCell(self.config)
        cell.plant.scale_friction(factor)
        states = [cell.step(row, np.zeros(6)) for row in motion]
        names = ('time', 'position', 'velocity', 'torque')
        columns = {name: np.array([getattr(each, name) for each in states]) for name in names}
        return Recording(joints=self.links.joints, **columns)


def attach(cell: RobotCell, mass: float, place: Sequence[float]) -> None:
    """Fix a ball of 5 cm radius to link6, its centre at `place` in the frame of the link [m]."""
    model = cell.plant.model
    body = model.body('link6').id
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[body])
    turn = turn.reshape(3, 3)
    before, own = model.body_ipos[body].copy(), model.body_mass[body]
    total = own + mass
    middle = (own * before + mass * np.array(place)) / total
    inertia = turn @ np.diag(model.body_inertia[body]) @ turn.T + 0.4 * mass * 0.05**2 * np.eye(3)
    for part, way in ((own, before - middle), (mass, np.array(place) - middle)):
        inertia += part * (way @ way * np.eye(3) - np.outer(way, way))
    principal, axes = np.linalg.eigh(inertia)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    model.body_mass[body], model.body_ipos[body] = total, middle
    model.body_inertia[body] = principal
    mujoco.mju_mat2Quat(model.body_iquat[body], axes.ravel())
    mujoco.mj_setConst(model, mujoco.MjData(model))


def push_at(cell: RobotCell, link: str, point: Array, force: Array, seconds: float) -> None:
    """Push a link at a point in the world, force in [N]."""
    data = cell.plant.data
    middle = data.xipos[cell.plant.model.body(link).id]
    cell.push(link, force, np.cross(point - middle, force), seconds)


def surface_contact(cell: RobotCell, link: str, random: np.random.Generator, size: float):
    """Return point and force (world) on the surface of a link, inwards with friction up to 0.5."""
    middle, radius, length = SURFACES[link]
    angle = random.uniform(0.0, 2.0 * np.pi)
    out = np.array([0.0, np.cos(angle), np.sin(angle)])
    along = np.cross(out, random.normal(size=3))
    force = -out + 0.5 * np.sqrt(random.uniform()) * along / np.linalg.norm(along)
    point = np.array(middle) + radius * out + [length * random.uniform(-0.5, 0.5), 0.0, 0.0]
    data, body = cell.plant.data, cell.plant.model.body(link).id
    turn = data.xmat[body].reshape(3, 3)
    return data.xpos[body] + turn @ point, size * turn @ force / np.linalg.norm(force)


def joint_torque(cell: RobotCell, link: str, point: Array, force: Array) -> Array:
    """Torque of a force on all joints, shape (6,), by MuJoCo's Jacobian."""
    model = cell.plant.model
    jacobian, turning = np.zeros((2, 3, 6))
    mujoco.mj_jac(model, cell.plant.data, jacobian, turning, point, model.body(link).id)
    return np.asarray(jacobian.T @ force)
