"""Position limits for the diagnosis, from a URDF and a joint limits file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.serial.urdf_file import UrdfFile


def position_limits(
    model: DynamicModel, urdf: UrdfFile | None = None, file: str | Path | None = None
) -> dict[str, tuple[float, float]]:
    """Lowest and highest position of every joint that has both, in [rad] or [m], by name.

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
    """Limits of positions only: a velocity or effort of 0 in a URDF does not matter here."""
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
