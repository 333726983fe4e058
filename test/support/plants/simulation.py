# SPDX-License-Identifier: Apache-2.0
"""Recordings of a known robot for the tests of the identification."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording


def random_values(model: DynamicModel, seed: int = 0) -> Array:
    """Values of the URDF; rotor inertias and friction random and positive."""
    random = np.random.default_rng(seed)
    values = np.nan_to_num(model.prior())
    for index, item in enumerate(model.parameters):
        if item.name.endswith(('rotor_inertia', 'friction', 'torque_offset')):
            values[index] = random.uniform(0.2, 2.0)
    return values


def sines(
    joints: int, samples: int, *, rate: float = 200.0, seed: int = 0, size: float = 1.0
) -> tuple[Array, Array, Array, Array]:
    """Time and q, qd, qdd of five sines per joint, other ones in every joint and seed."""
    random = np.random.default_rng([seed, joints])
    time = np.arange(samples) / rate
    q, qd, qdd = np.zeros((3, samples, joints))
    for joint in range(joints):
        for harmonic in range(1, 6):
            w = 2.0 * np.pi * 0.13 * harmonic
            amplitude = size * random.uniform(0.3, 0.8) / np.sqrt(harmonic)
            phase = random.uniform(0.0, 2.0 * np.pi)
            q[:, joint] += amplitude * np.sin(w * time + phase)
            qd[:, joint] += amplitude * w * np.cos(w * time + phase)
            qdd[:, joint] -= amplitude * w**2 * np.sin(w * time + phase)
    return time, q, qd, qdd


def record(
    model: DynamicModel,
    values: Array,
    samples: int = 2000,
    *,
    seed: int = 0,
    noise: float = 0.0,
    resolution: float = 0.0,
    derivatives: bool = True,
    rate: float = 200.0,
    size: float = 1.0,
) -> Recording:
    """Record a motion of the model.

    :param noise: of the torque, as a share of each joint's RMS torque
    :param resolution: of the encoders, in [rad]
    :param derivatives: whether velocities and accelerations are in the recording
    """
    random = np.random.default_rng([7, seed])
    time, q, qd, qdd = sines(len(model.joints), samples, rate=rate, seed=seed, size=size)
    torque = model.torque(q, qd, qdd, values)
    torque += noise * np.sqrt(np.mean(torque**2, axis=0)) * random.normal(size=torque.shape)
    if resolution:
        q = np.round(q / resolution) * resolution
    given = {'velocity': qd, 'acceleration': qdd} if derivatives else {}
    return Recording(
        time=time, joints=model.joint_names, position=q, torque=torque, source='sim', **given
    )


def arm(xml: str, **options: object) -> tuple[DynamicModel, Array]:
    """Model with friction and rotors of a URDF, and values for it."""
    model = robot_model(xml, **options)
    return model, random_values(model)


def base_values(model: DynamicModel, values: Array) -> Array:
    """Base values of parameter values."""
    return base_parameters(model).values(values)
