# SPDX-License-Identifier: Apache-2.0
"""Published topics of the collision monitor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.nodes.collision_monitor.contact_topic import ContactTopic
from robodyn_ros.nodes.collision_monitor.error_topic import ErrorTopic
from robodyn_ros.nodes.collision_monitor.health_topic import HealthTopic
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.collision_monitor.state_topic import StateTopic


class Topic(Protocol):
    """Publisher that is made once with the node."""

    def build(
        self, model: IdentifiedModel, torque: ModelTorque, detector: TorqueErrorDetector
    ) -> None:
        """Prepare for a model.

        :raises RobodynError: parameters that do not fit it
        """

    def restart(self, reason: str) -> None:
        """Forget earlier samples: the payload was changed."""

    def publish(self, detector: TorqueErrorDetector, inputs: Inputs, stamp: Any) -> None:
        """Publish the state after a sample, or after a timeout without samples."""

    def details(self) -> dict[str, object]:
        """Return entries of the diagnostics. 'advice' is what the operator should do, or ''."""


TOPICS: tuple[Callable[[Any], Topic], ...] = (StateTopic, ErrorTopic, ContactTopic, HealthTopic)
"""All of them. Each is a class in a file of this folder, made with the node."""
