# SPDX-License-Identifier: Apache-2.0
"""Smallest force at the tool that crosses a threshold, over the motion of healthy sessions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.analysis.thresholds.healthy_data import HealthyInput
from robodyn_ros.control.collision.threshold_map import ThresholdMap
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.jacobians import LinkJacobians


def smallest_force(tool: Array, threshold: Array, directions: Array) -> Array:
    """Return the smallest force along each direction that loads a joint above its threshold.

    :param tool: Jacobian of the tool's position, shape (3, n)
    :param threshold: shape (n,), in [Nm] or [N]
    :param directions: unit vectors, shape (N, 3)
    :return: shape (N,), in [N]; infinite where no joint feels the direction
    """
    with np.errstate(divide='ignore'):
        forces: Array = (threshold / np.abs(directions @ tool)).min(axis=1)
    return forces


def smallest_forces(
    inputs: Sequence[HealthyInput], given: ThresholdMap, links: LinkJacobians, count: int = 500
) -> Array:
    """Return the smallest detectable force at `count` samples, in [N].

    The samples are spread evenly over the sessions. Each has a random direction, always the same
    ones, so that two maps are compared for equal forces. A force is found if it loads one joint
    above its threshold.

    :return: shape (count,) or less; infinite where no joint feels the direction
    """
    motions = [each.session.motion(given.bands.still) for each in inputs]
    threshold = np.concatenate([given.at(*motion) for motion in motions])
    position = np.concatenate([each.position for each in inputs])
    used = np.concatenate([each.session.used for each in inputs])
    rows = np.flatnonzero(used)
    rows = rows[np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)]
    directions = np.random.default_rng(0).normal(size=(len(rows), 1, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    tools = (links.at(position[row].astype(float)).tool[:3] for row in rows)
    return np.concatenate([
        smallest_force(tool, threshold[row], direction)
        for tool, row, direction in zip(tools, rows, directions, strict=True)
    ])  # fmt: skip
