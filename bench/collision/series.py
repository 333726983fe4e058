# SPDX-License-Identifier: Apache-2.0
"""Torque errors of complete recordings at once, which the bench compares with the detector."""

from __future__ import annotations

import numpy as np
from scipy.signal import butter, lfilter

from collision.plant import Measured
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording


def recording_of(
    measured: Measured, robot: int, period: float, joints: tuple[str, ...]
) -> Recording:
    """Return the recording of one robot."""
    q, v, torque = (
        getattr(measured, name)[robot].astype(float) for name in ('position', 'velocity', 'torque')
    )
    time = 10.0 + period * np.arange(len(q))
    return Recording(time, joints, q, torque, v, source=f'robot {robot}')


def session(data: Recording, torque: ModelTorque, settings: CollisionSettings) -> Session:
    """Return the session that `session_of` returns, up to rounding."""
    assert data.velocity is not None
    rest = data.torque - torque.friction(data.velocity)
    make = _observed if settings.residual == 'observer' else _filtered
    residual, velocity, acceleration = make(data.position, data.velocity, rest, torque, settings)
    used = data.time >= data.time[0] + settings.settle_time - 1e-9
    started = np.arange(len(used)) == 0
    return Session(
        data.source, data.time, np.abs(residual).astype(np.float32), velocity.astype(np.float32),
        np.abs(acceleration).astype(np.float32), used, started,
    )  # fmt: skip


def _filtered(
    q: Array, v: Array, rest: Array, torque: ModelTorque, settings: CollisionSettings
) -> tuple[Array, Array, Array]:
    period = settings.period
    b, a = butter(2, settings.filter_cutoff, fs=1.0 / period)
    low = [lfilter(b, a, each - each[0], axis=0) + each[0] for each in (q, v, rest)]
    slope = b[0] * 2.0 / period * np.array([1.0, 0.0, -1.0])
    acceleration = lfilter(slope, a, v - v[0], axis=0)
    tef = settings.torque_error_filter
    current = torque.body(low[0], low[1], acceleration) - low[2]
    return lfilter([tef], [1.0, tef - 1.0], current, axis=0), low[1], acceleration


def _observed(
    q: Array, v: Array, rest: Array, torque: ModelTorque, settings: CollisionSettings
) -> tuple[Array, Array, Array]:
    def means(x: Array) -> Array:
        return 0.5 * (x + np.concatenate([x[:1], x[:-1]]))

    slope = np.diff(v, axis=0, prepend=v[:1]) / settings.period
    current = torque.body(means(q), means(v), slope) - means(rest)
    share = 1.0 - np.exp(-2.0 * np.pi * settings.observer_bandwidth * settings.period)

    def low(x: Array, start: Array) -> Array:
        return np.asarray(lfilter([share], [1.0, share - 1.0], x - start, axis=0)) + start

    still = np.zeros(q.shape[1])
    return low(current, still), low(means(v), v[0]), low(slope, still)
