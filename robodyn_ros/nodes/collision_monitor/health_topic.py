# SPDX-License-Identifier: Apache-2.0
"""Topic `~/model_health`: whether the model still fits the robot, and what explains if not."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.health.hypotheses import Cause
from robodyn_ros.control.health.monitor import HealthMonitor, HealthSettings
from robodyn_ros.control.health.report import HealthReport
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.msg import ModelHealth
from robodyn_ros.nodes.base.clock import start_timer, to_duration
from robodyn_ros.nodes.base.common import (
    LATCHED_QOS,
    declare,
)
from robodyn_ros.nodes.collision_monitor.inputs import Inputs


class HealthTopic:
    """Publisher of the health, once per second. A cycle only copies a sample."""

    def __init__(self, node: Any) -> None:
        """Declare the parameters, and create publisher and timers."""
        self._node = node
        defaults = HealthSettings()
        self._given = replace(
            defaults,
            window=declare(
                node, 'health_window', defaults.window, 'time of motion that the health of the '
                'model is evaluated over [s]', read_only=True, minimum=2.0, maximum=600.0,
            ),
            relevant=declare(
                node, 'health_relevant', defaults.relevant, 'smallest explained torque that is '
                'reported, relative to the threshold', read_only=True, minimum=0.01, maximum=1.0,
            ),
        )  # fmt: skip
        self._monitor: HealthMonitor | None = None
        self._publisher = node.create_lifecycle_publisher(
            ModelHealth, '~/model_health', LATCHED_QOS
        )
        start_timer(node, 0.25, self._process)
        start_timer(node, 1.0, self._evaluate)

    def build(
        self, model: IdentifiedModel, torque: ModelTorque, detector: TorqueErrorDetector
    ) -> None:
        """Prepare for a model."""
        self._joints = list(detector.joints)
        # The torque error of a joint that is not monitored tells nothing.
        self._scale = np.where(detector.settings.enabled, 1.0, 1e6)
        settings = replace(
            self._given,
            low_velocity=float(np.max(detector.settings.low_velocity)),
            gain_uncertainty=model.gain_uncertainty,
        )
        self._monitor = HealthMonitor(model.model, torque, settings)

    def restart(self, reason: str) -> None:
        """Forget the motion so far."""
        if self._monitor is not None:
            self._monitor.clear(reason)

    def publish(self, detector: TorqueErrorDetector, inputs: Inputs, _: Any) -> None:
        """Copy a sample if it is time for one."""
        if self._monitor is None or not detector.settled:
            return
        state, (velocity, acceleration) = inputs.state, detector.motion
        self._monitor.take(
            state.stamp,
            state.position,
            velocity,
            acceleration,
            detector.torque_error,
            detector.threshold * self._scale,
        )

    def details(self) -> dict[str, object]:
        """Return entries of the diagnostics; 'advice' is not empty if there is something to do."""
        if self._monitor is None:
            return {}
        report = self._monitor.report
        advice = report.message if report.cause > Cause.NONE else ''
        return {'model_health': report.message, 'advice': advice}

    def _process(self) -> None:
        if self._monitor is not None and self._node.active:
            self._monitor.process()

    def _evaluate(self) -> None:
        if self._monitor is None or not self._node.active:
            return
        before = self._monitor.report
        report = self._monitor.evaluate()
        if report.cause != before.cause and report.cause > Cause.NONE:
            self._node.get_logger().warning(report.message)
        message = health_message(report, self._joints)
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


def health_message(report: HealthReport, joints: list[str]) -> ModelHealth:
    """Return the message of a report."""
    return ModelHealth(
        kind=int(report.cause),
        motion=to_duration(report.motion),
        explained=report.removed,
        share=report.share,
        joint=report.joint,
        mass=report.mass,
        mass_interval=report.mass_interval,
        center_of_mass=report.center_of_mass,
        center_of_mass_interval=report.center_of_mass_interval,
        name=joints,
        dry_friction=array('d', report.dry_friction.tolist()),
        gain=array('d', report.gain.tolist()),
        message=report.message,
    )
