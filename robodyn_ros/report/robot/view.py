# SPDX-License-Identifier: Apache-2.0
"""The recorded motion in three dimensions, with the torque error of each joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.output_files import plain
from robodyn_ros.report.numbers import encode_numbers
from robodyn_ros.report.robot.bodies import bodies, places
from robodyn_ros.report.robot.capsules import capsules
from robodyn_ros.report.robot.poses import poses
from robodyn_ros.report.source import ReportSignals

NUMBERS = 100_000
"""Of all poses, which bounds the size of the page."""


def robot_view(
    model: DynamicModel,
    signals: ReportSignals,
    reference: Array | None = None,
    mean: Sequence[float | None] = (),
) -> dict[str, Any] | None:
    """Return shapes, poses and torque errors; None for robots without known lengths.

    A frame has the largest torque error until the next frame.

    :param reference: torque that errors are relative to, shape (n,), see `reference_torque`; None,
        or NaN: the RMS torque
    :param mean: relative error of each joint over the whole recording: the view begins with it
    """
    tree = bodies(model)
    if not tree:
        return None
    count = max(2, min(900, len(signals.time), NUMBERS // (12 * len(tree))))
    rows = np.unique(np.linspace(0, len(signals.time) - 1, count).astype(int))
    q = signals.position[rows]
    size = np.sqrt(np.mean(signals.torque**2, axis=0))
    if reference is not None:
        size = np.where(np.isnan(reference), size, reference)
    errors = np.abs(signals.error) / np.where(size > 0.0, size, 1.0)
    return {
        'time': encode_numbers(signals.time[rows]),
        'poses': encode_numbers(poses(tree, q)[:, :, :3].reshape(len(rows), -1)),
        'errors': encode_numbers(np.maximum.reduceat(errors, rows, axis=0)),
        'mean': [float(each or 0.0) for each in mean] or [0.0] * len(size),
        'joints': list(model.joint_names),
        'bodies': [body.joint for body in tree],
        'shapes': plain(capsules(tree, signals.position, places(model))),
    }
