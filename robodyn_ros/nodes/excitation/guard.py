# SPDX-License-Identifier: Apache-2.0
"""Limits torque_max (planned) and torque_threshold (measured) of the excitation node."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robodyn_ros.control.robot_check import check_possible
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import check_planned, peak_torque, prior_torque
from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.errors import NO_FAULT, ConfigError, ControlError, Fault
from robodyn_ros.excitation.limits.constraints import TorqueLimit
from robodyn_ros.excitation.plan import Plan
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.excitation.parameters import declare_model, file_model
from robodyn_ros.nodes.robot.effort import (
    EffortParameters,
    convert_watched_torque,
    declare_torque_limit,
    read_torque_limit,
)
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.paths import resource


class Guard:
    """Checks the torque of a motion before it starts, and the measured one while it runs."""

    def __init__(self, node: Node, joints: tuple[str, ...]) -> None:
        """Declare the parameters and load the model that torque_max needs.

        :raises RobodynError: a parameter that cannot be used, or no model for torque_max
        """
        self._node = node
        self._joints = joints
        self.torque_limit: TorqueLimit | None = None
        """torque_max, for the design of motions; None: it is not set."""
        effort = EffortParameters(node)
        self._max = self._declare_max(effort)
        threshold = read_torque_limit(
            'torque_threshold',
            declare_torque_limit(
                node, 'torque_threshold', 'measured torque above which the motion is stopped'
            ),
            joints,
            effort,
        )
        self._conversion = convert_watched_torque(joints, threshold, effort)
        self._watch = (
            None if threshold is None else TorqueThreshold(joints, threshold, partial(now, node))
        )
        self._reader = JointStateReader(joints, required=('effort',))

    def _declare_max(self, effort: EffortParameters) -> Any:
        node = self._node
        given = declare_torque_limit(node, 'torque_max', 'largest torque of a planned motion')
        declare_model(node)
        limit = read_torque_limit('torque_max', given, self._joints, effort)
        if limit is None:
            return None
        model, values, torque = self._model()
        if set(torque.joints) != set(self._joints):
            raise ConfigError(
                f'torque_max: the model has the joints {list(torque.joints)}, the node moves '
                f'{list(self._joints)}'
            )
        chosen = [self._joints.index(name) for name in torque.joints]
        self.torque_limit = TorqueLimit(
            tuple(values.tolist()), tuple(limit[chosen].tolist()), model.describe()
        )
        return torque, limit[chosen], [joint.torque_unit for joint in model.joints]

    def _model(self) -> tuple[DynamicModel, Array, ModelTorque]:
        """Return a model, its parameter values and its torque."""
        if file := str(self._node.get_parameter('result_file').value):
            result = load_identified_model(resource(file))
            check_possible(result)
            return result.model, result.values, ModelTorque(result.model, result.values)
        if (model := file_model(self._node)) is None:
            raise ConfigError(
                'torque_max needs a model to compute the torque of a motion: give the parameter '
                'result_file (of an identification) or model_file (with a-priori values)'
            )
        torque, unknown = prior_torque(model)
        if unknown:
            self._node.get_logger().warning(
                f'torque_max is checked without {", ".join(unknown)}: '
                f'{self._node.get_parameter("model_file").value} gives no values'
            )
        return model, np.nan_to_num(model.prior()), torque

    def check_plan(self, plan: Plan, *, spacing: float = 0.002) -> None:
        """Refuse a plan above torque_max, or any plan without torque feedback for the threshold.

        :param spacing: of the samples, in [s]
        :raises ControlError: naming joint, time and torque, or the missing feedback
        """
        if self._max is not None:
            torque, limit, units = self._max
            check_planned(peak_torque(torque, plan.trajectory, spacing=spacing), limit, units)
        if self._watch is not None and (silence := self._watch.silence()):
            raise ControlError(silence)

    def problem(self, message: JointState) -> Fault:
        """Return the fault of a measured torque above torque_threshold, or NO_FAULT."""
        if self._watch is None or self._conversion is None or self._reader.read(message):
            return NO_FAULT
        return self._watch.feedback(self._conversion.feedback(self._reader.effort))

    def silence(self) -> Fault:
        """Return the fault of missing torque feedback, or NO_FAULT."""
        return NO_FAULT if self._watch is None else self._watch.silence()
