# SPDX-License-Identifier: Apache-2.0
"""A small arm with known parameters, and the six-axis cell with the values it was built from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from robots import SIX_AXIS, dh_urdf

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array, DynamicModel

CELL = SIX_AXIS.parents[1] / 'config' / 'robots' / 'six_axis.yaml'


def small_arm() -> tuple[DynamicModel, Array]:
    """Two revolute joints that feel gravity, with friction, and their values."""
    model = robot_model(dh_urdf([(np.pi / 2, 0.0, 0.3), (0.0, 0.4, 0.0)]))
    own = {'rotor_inertia': 0.5, 'viscous_friction': 2.0, 'coulomb_friction': 3.0}
    return model, completed(model, {name: [value] * 2 for name, value in own.items()})


def write_axis(folder: Path, period: float) -> str:
    """Write the robot file of the single axis with a servo period in [s]; return its path."""
    text = (CELL.parent / 'single_axis.yaml').read_text()
    text = text.replace('../../urdf', str(SIX_AXIS.parent))
    path = folder / 'single_axis.yaml'
    cell = f'  servo_period: {period}\n  substeps: {round(2000 * period)}\n  joints:\n'
    path.write_text(text.replace('  joints:\n', cell))
    return str(path)


def completed(model: DynamicModel, joint_values: dict[str, Array | list[float]]) -> Array:
    """Values of the URDF, joint quantities filled in by name, offsets zero."""
    values = model.prior()
    for index, parameter in enumerate(model.parameters):
        kind = parameter.name.rsplit('.', 1)[1]
        if kind in joint_values:
            values[index] = joint_values[kind][model.joint_names.index(parameter.joint)]
    return np.nan_to_num(values)


def six_axis_cell() -> tuple[RobotCell, ModelTorque]:
    """The simulated cell, and the torque of a model that lacks only its Stribeck friction."""
    cell = RobotCell(CellConfig.from_yaml(CELL, profile='ideal'))
    model = robot_model(SIX_AXIS)
    names = ('rotor_inertia', 'coulomb_friction', 'viscous_friction')
    values = completed(model, {name: cell.axes[name] for name in names})
    return cell, ModelTorque(model, values, velocity_window=0.01)


def wave(seconds: float, seed: int, joints: int, period: float = 0.002) -> Array:
    """A smooth motion from rest at zero, position of shape (N, joints), in [rad]."""
    random = np.random.default_rng(seed)
    time = np.arange(round(seconds / period))[:, None] * period
    amplitude = random.uniform(0.2, 0.5, (3, joints))
    rate = 2.0 * np.pi * random.uniform(0.15, 0.5, (3, joints))
    phase = random.uniform(0.0, 6.0, (3, joints))
    x = np.minimum(1.0, time / 2.0)
    fade = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    parts = [a * np.sin(w * time + p) for a, w, p in zip(amplitude, rate, phase, strict=True)]
    return np.asarray(fade * sum(parts))
