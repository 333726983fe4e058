# SPDX-License-Identifier: Apache-2.0
"""Smallest force at the tool that crosses a threshold, over the motion of healthy sessions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.analysis.thresholds.healthy_data import HealthyInput
from robodyn_ros.control.collision.threshold_map import ThresholdMap
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.jacobians import LinkJacobians


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
    random = np.random.default_rng(0)
    found = []
    for row in rows:
        direction = random.normal(size=3)
        direction /= np.linalg.norm(direction)
        torque = np.abs(links.at(position[row].astype(float)).tool[:3].T @ direction)
        with np.errstate(divide='ignore'):
            found.append(float((threshold[row] / torque).min()))
    return np.array(found)
