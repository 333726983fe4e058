# SPDX-License-Identifier: Apache-2.0
"""The torque error of each joint that decides on the success of an identification."""

from __future__ import annotations

import numpy as np

from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.identification.options import SuccessRule
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part

SMALL_TORQUE = 0.05
"""Share of its rated torque below which a joint's torque is small. Friction of a geared joint and
the error of a torque sensor are of this size: a relative error of smaller torque means little."""

MEANING: dict[SuccessRule, str] = {
    'torque': 'error of 99 % of the samples over the torque or 5 % of its rating',
    'softmc': 'largest error over the largest torque',
}
"""Decisive error of each rule, in words."""


def success_rule(rule: SuccessRule, model: DynamicModel) -> SuccessRule:
    """Return the rule that decides on success: the one asked for, or that of the model's kind."""
    if rule != 'auto':
        return rule
    return 'softmc' if rigid_part(model) is None else 'torque'


def decisive_error(report: FitReport, model: DynamicModel, rule: SuccessRule) -> Array:
    """Return the relative torque error of each joint that the limit applies to, shape (n,).

    :param rule: of the options; `auto` is that of the model's kind
    """
    if success_rule(rule, model) == 'softmc':
        return report.max_relative_torque_error
    return np.asarray(report.usual_error / np.maximum(reference_torque(report, model), 1e-300))


def reference_torque(report: FitReport, model: DynamicModel) -> Array:
    """Return the torque that the errors of each joint are compared with, shape (n,).

    It is the joint's torque, or `SMALL_TORQUE` of its rated torque if that is larger.
    """
    small = SMALL_TORQUE * rated_torque(model, report.usual_torque)
    return np.asarray(np.maximum(report.usual_torque, small))


def rated_torque(model: DynamicModel, torque: Array) -> Array:
    """Return the rated torque of each joint, shape (n,), in [Nm] or [N].

    That is the effort limit of the URDF; without one, the largest torque of all joints with the
    same unit.

    :param torque: of each joint in the recording, shape (n,)
    """
    part = rigid_part(model)
    known = {} if part is None else {each.name: each.effort for each in part.urdf.joints}
    rated = np.array([known.get(name, np.inf) for name in model.joint_names])
    units = np.array([joint.torque_unit for joint in model.joints])
    largest = np.array([torque[units == unit].max(initial=0.0) for unit in units])
    return np.where(np.isfinite(rated) & (rated > 0.0), rated, largest)
