# SPDX-License-Identifier: Apache-2.0
"""A small arm, its motion there and back, and the limits that each plan of torque keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from control_arm import small_arm

from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.torque_plan import TorquePlan
from robodyn_ros.control.feedforward.trajectory_effort import effort_steps
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.long_work import complete
from robodyn_ros.models.interface import Array

MODEL, VALUES = small_arm()
TORQUE = ModelTorque(MODEL, VALUES)
SETTINGS = FeedforwardSettings(
    joints=MODEL.joint_names, max_torque=[200.0, 100.0], ramp_up_time=0.2, ramp_down_time=0.1
)
FAST = replace(SETTINGS, max_torque_rate=1e4)  # keeps up with friction when it turns
STEP = SETTINGS.rate * SETTINGS.period * (1 + 1e-9)
DELAY = 3
FRICTION_AT_END = np.array([-3.0, 3.0])
"""Coulomb friction of the way back."""
REST = np.zeros((1, 2))
TORQUE_AT_START = MODEL.torque(REST, REST, np.array([[0.5, -0.8]]) * np.pi**2, VALUES)[0]


def trajectory_effort(
    spline: SplineTrajectory, torque: ModelTorque, settings: FeedforwardSettings, **options: Any
) -> TorquePlan:
    """Compute all steps at once."""
    return complete(effort_steps(spline, torque, settings, **options))


def spline(duration: float = 2.0, effort: Array | None = None) -> SplineTrajectory:
    """There and back, at rest at both ends."""
    time = np.linspace(0.0, duration, 21)
    phase = 2.0 * np.pi * time[:, None] / duration
    size = np.array([0.5, -0.8])
    rate = 2.0 * np.pi / duration
    return SplineTrajectory(
        points=TrajectoryPoints(
            MODEL.joint_names,
            time,
            size * (1.0 - np.cos(phase)),
            size * rate * np.round(np.sin(phase), 12),
            size * rate**2 * np.cos(phase),
            effort,
        )
    )


def check_limits(plan: TorquePlan, initial: Array | float = 0.0) -> None:
    assert np.isfinite(plan.effort).all()
    assert (np.abs(plan.effort) <= SETTINGS.limit).all()
    assert (np.abs(np.diff(plan.effort, axis=0, prepend=np.full((1, 2), initial))) <= STEP).all()
    np.testing.assert_allclose(np.diff(plan.time), SETTINGS.period, rtol=1e-9)
