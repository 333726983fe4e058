# SPDX-License-Identifier: Apache-2.0
"""Position limits for the diagnosis, and recorded positions outside of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.findings import Finding, finding
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.serial.urdf_file import UrdfFile

TOLERANCE = 0.01
"""Share of a joint's range that a position may lie outside of it: zeros of encoders differ."""


def position_limits(
    model: DynamicModel, urdf: UrdfFile | None = None, file: str | Path | None = None
) -> dict[str, tuple[float, float]]:
    """Return lowest and highest position of every joint that has both, in [rad] or [m], by name.

    :param urdf: of the robot; None: that inside the model, if it has one
    :param file: in the form of MoveIt's joint_limits.yaml; it narrows those of the URDF
    :raises ConfigError: the file cannot be used, or names a joint that the robot does not have
    :raises MotionError: the URDF gives a joint no way to move
    """
    if urdf is None:
        body = rigid_part(model)
        urdf = None if body is None else body.urdf
    known = {} if urdf is None else urdf.position_limits
    if file is None:
        return known
    others = () if urdf is None else urdf.joints
    moving = (joint.name for joint in others if joint.type != 'fixed')
    names = dict.fromkeys((*model.joint_names, *moving))
    limits = load_limits(file, _limits(tuple(names), model, known))
    ranges = zip(limits.joints, limits.lower.tolist(), limits.upper.tolist(), strict=True)
    return {
        name: (lower, upper) for name, lower, upper in ranges if np.isfinite([lower, upper]).all()
    }


def _limits(
    names: tuple[str, ...], model: DynamicModel, known: Mapping[str, tuple[float, float]]
) -> JointLimits:
    """Return limits of positions only; a velocity or effort of 0 in a URDF is ignored."""
    endless = np.full(len(names), np.inf)
    lower, upper = np.array([known.get(name, (-np.inf, np.inf)) for name in names]).T
    units = {joint.name: joint.position_unit for joint in model.joints}
    return JointLimits(
        names,
        tuple(units.get(name, 'rad') for name in names),
        lower,
        upper,
        *(endless for _ in ('velocity', 'acceleration', 'jerk', 'effort')),
    )


def limit_findings(joints: Sequence[str], position: Array, bounds: Array) -> Iterator[Finding]:
    """Name the joints whose positions lie outside their limits, the farthest first.

    :param position: shape (N, n), in [rad] or [m]
    :param bounds: lowest and highest position, shape (n, 2); infinite where unknown
    """
    low, high = position.min(axis=0), position.max(axis=0)
    outside = np.maximum(bounds[:, 0] - low, high - bounds[:, 1])
    width = bounds[:, 1] - bounds[:, 0]
    far = np.isfinite(width) & (outside > TOLERANCE * width)
    if not far.any():
        return
    worst = int(np.argmax(np.where(far, outside, 0.0) / np.where(far, width, 1.0)))
    others = [joints[k] for k in np.flatnonzero(far).tolist() if k != worst]
    yield finding(
        'outside_limits',
        joint=joints[worst],
        low=low[worst],
        high=high[worst],
        lower=bounds[worst, 0],
        upper=bounds[worst, 1],
        others=f' (also {", ".join(others)})' if others else '',
    )
