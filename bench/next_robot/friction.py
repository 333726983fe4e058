# SPDX-License-Identifier: Apache-2.0
"""Random motion, friction and torque noise of a plant."""

from __future__ import annotations

import numpy as np
from scipy import signal

from robodyn_ros.models.interface import Array, DynamicModel

Motion = tuple[Array, Array, Array]


def motion(
    joints: int, count: int, rate: float, random: np.random.Generator, speed: float
) -> Motion:
    """Return q, qd, qdd (N, n) of five sines per joint, around a random centre."""
    time, width = np.arange(count)[:, None, None] / rate, (joints, 5)
    w = 2.0 * np.pi * speed * 0.13 * np.arange(1, 6)
    size = random.uniform(0.2, 0.7, width) / np.sqrt(np.arange(1, 6))
    angle = w * time + random.uniform(0.0, 2.0 * np.pi, width)
    centre = random.uniform(-0.5, 0.5, joints)
    q = centre + (size * np.sin(angle)).sum(axis=2)
    velocity = (size * w * np.cos(angle)).sum(axis=2)
    return q, velocity, -(size * w**2 * np.sin(angle)).sum(axis=2)


def torque_of(kind: str, seed: int, body: DynamicModel, values: Array, moved: Motion) -> Array:
    """Return rigid-body torque and friction (N, n); their ratio is the same for every motion."""
    rigid = body.torque(*moved, values)
    reference = np.random.default_rng([23, seed])
    typical = body.torque(*motion(rigid.shape[1], 400, 20.0, reference, 1.0), values)
    size = np.sqrt(np.mean(typical**2, axis=0))
    return rigid + _friction(kind, seed, moved, rigid, size)


def _friction(kind: str, seed: int, moved: Motion, rigid: Array, size: Array) -> Array:
    """Return the friction torque (N, n); size (n,): scale of the rigid-body torque."""
    random, (q, qd, _) = np.random.default_rng([19, seed]), moved
    count = q.shape[1]
    coulomb = size * random.uniform(0.1, 0.5, count)
    viscous = size * random.uniform(0.05, 0.3, count)
    knee = random.uniform(0.01, 0.1, count)
    sign, share = np.tanh(qd / 0.003), random.uniform(0.2, 0.6, count)
    plain = coulomb * sign + viscous * qd
    extra = {
        'linear': 0.0,
        'stribeck': share * coulomb * sign * np.exp(-((qd / knee) ** 2)),
        'load': share * np.abs(rigid) * sign,
        'asymmetric': share * (coulomb + viscous * np.abs(qd)) * (qd > 0.0),
        'root': share * size * np.sign(qd) * np.abs(qd) ** (1.0 / 3.0),
        'ripple': share * coulomb * (sign * np.sin(7.0 * q) + 0.3 * np.sin(31.0 * q)),
        'none': -0.95 * plain,
    }
    return np.asarray(plain + extra[kind])


def noise(share: float, pole: float, torque: Array, random: np.random.Generator) -> Array:
    """Return torque noise (N, n), as a share of the RMS torque of each joint."""
    white = random.normal(size=torque.shape)
    gain = np.sqrt(1.0 - pole**2)
    coloured = signal.lfilter([gain], [1.0, -pole], white, axis=0)
    return np.asarray(share * np.sqrt(np.mean(torque**2, axis=0)) * coloured)
