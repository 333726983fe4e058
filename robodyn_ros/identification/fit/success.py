# SPDX-License-Identifier: Apache-2.0
"""The error of each joint: the part of its torque that the model does not explain."""

from __future__ import annotations

import numpy as np

from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part

SMALL_TORQUE = 0.05
"""Share of its rated torque below which a joint's torque is small. Friction of a geared joint and
the error of a torque sensor are of this size: a relative error of smaller torque means little."""


def relative_error(report: FitReport, model: DynamicModel) -> Array:
    """Return the RMS torque error over the RMS torque of each joint, shape (n,).

    Torque below `SMALL_TORQUE` of the rating counts as that much.
    """
    return np.asarray(report.rms_error / np.maximum(reference_torque(report, model), 1e-300))


def reference_torque(report: FitReport, model: DynamicModel) -> Array:
    """Return the torque that the errors of each joint are compared with, shape (n,).

    It is the RMS torque, or `SMALL_TORQUE` of the rated torque if that is larger. An effort limit
    may be a placeholder, or missing: a rating is at most twice the largest torque that any joint
    with the same unit has, as a motion that excites a robot needs half of its torque.
    """
    largest = 2.0 * _largest(model, report.usual_torque)
    rated = np.minimum(rated_torque(model, largest), largest)
    return np.asarray(np.maximum(report.rms_torque, SMALL_TORQUE * rated))


def rated_torque(model: DynamicModel, torque: Array) -> Array:
    """Return the rated torque of each joint, shape (n,), in [Nm] or [N].

    That is the effort limit of the URDF; without one, the largest torque of all joints with the
    same unit.

    :param torque: of each joint in the recording, shape (n,)
    """
    part = rigid_part(model)
    known = {} if part is None else {each.name: each.effort for each in part.urdf.joints}
    rated = np.array([known.get(name, np.inf) for name in model.joint_names])
    return np.where(np.isfinite(rated) & (rated > 0.0), rated, _largest(model, torque))


def _largest(model: DynamicModel, torque: Array) -> Array:
    """Return the largest torque of all joints with the same unit, for each joint, shape (n,)."""
    units = np.array([joint.torque_unit for joint in model.joints])
    return np.array([torque[units == unit].max(initial=0.0) for unit in units])
