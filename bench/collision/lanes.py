# SPDX-License-Identifier: Apache-2.0
"""The detector's law for robots side by side: the classes of the node, with longer rows.

Filters and friction compute each number by itself, so that all joints of all robots may be one
row; the body torque takes one robot per row. The results are those of the detector in every bit
(`test/bench/test_bench_collision.py`).
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from collision.momentum_observer import MomentumObserver
from collision.plant import Measured
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.filtered_residual import FilteredResidual
from robodyn_ros.control.collision.ramp_law import ErrorSamples
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.states.reference_rest import REST
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

FIRST = 10.0
"""Stamp of the first sample, in [s]."""


class Lanes:
    """Model torque of robots whose joints are one row, as a residual asks for it."""

    def __init__(self, torque: ModelTorque, robots: int) -> None:
        """Repeat the joints."""
        self._torque, self._shape = torque, (robots, len(torque.joints))
        self.joints = torque.joints * robots

    def body(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque without friction, shape (robots * n,)."""
        rows = (each.reshape(self._shape) for each in (q, qd, qdd))
        return self._torque.body(*rows).ravel()


def recording_of(
    measured: Measured, robot: int, period: float, joints: tuple[str, ...]
) -> Recording:
    """Return the recording of one robot."""
    q, v, torque = (
        getattr(measured, name)[:, robot].astype(float)
        for name in ('position', 'velocity', 'torque')
    )
    time = FIRST + period * np.arange(len(q))
    return Recording(time, joints, q, torque, v, source=f'robot {robot}')


def sessions(
    measured: Measured, torque: ModelTorque, settings: CollisionSettings,
    *, bandwidth: float | None = None,
) -> list[Session]:  # fmt: skip
    """Return torque errors and motion of each robot, as the detector has them.

    :param bandwidth: of the momentum observer, in [Hz]; None: the detector's residual
    """
    count, robots, width = measured.position.shape
    residual = _residual(torque, settings, robots, bandwidth)
    signals = np.zeros((3, robots, width))
    row_of = signals.reshape(3, -1)
    found = np.zeros((4, robots, count, width), dtype=np.float32)
    kept = (residual.position, residual.velocity, residual.acceleration, residual.torque_error)
    time = FIRST + settings.period * np.arange(count)
    used = time >= time[0] + settings.settle_time - 1e-9
    rests = rest_of_references(measured.reference, time)
    for row in range(count):
        signals[0], signals[1] = measured.position[row], measured.velocity[row]
        np.subtract(measured.torque[row], torque.friction(signals[1]), out=signals[2])
        if row == 0:
            residual.restart(row_of)
        residual.update(row_of)
        for place, value in zip(found, kept, strict=True):
            place[:, row] = value.reshape(robots, width)
    started = np.arange(count) == 0
    return [
        Session(f'robot {k}', ErrorSamples(time, *found[:, k], rests[:, k]), used, used, started)
        for k in range(robots)
    ]


def rest_of_references(reference: Array, time: Array) -> NDArray[np.bool_]:
    """Return whether the reference of each robot rests, shape (N, robots).

    As of `rest_of_reference`: a command is known one sample later.
    """
    moves = np.ones(reference.shape[:2], dtype=bool)
    moves[1:] = (np.diff(reference, axis=0) != 0.0).any(axis=2)
    last = np.maximum.accumulate(np.where(moves, np.arange(len(time))[:, None], 0))
    rests = np.zeros_like(moves)
    rests[1:] = (time[:, None] - time[last] >= REST)[:-1]
    return rests


def _residual(
    torque: ModelTorque, settings: CollisionSettings, robots: int, bandwidth: float | None
) -> FilteredResidual | MomentumObserver:
    rows, period = cast(ModelTorque, Lanes(torque, robots)), settings.period
    if bandwidth is not None:
        return MomentumObserver(rows, bandwidth=bandwidth, period=period)
    return FilteredResidual(
        rows, cutoff=settings.filter_cutoff, share=settings.torque_error_filter, period=period
    )
