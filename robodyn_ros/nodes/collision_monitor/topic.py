# SPDX-License-Identifier: Apache-2.0
"""Base class of the topics of the collision monitor."""

from __future__ import annotations

from typing import Any

from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.nodes.collision_monitor.inputs import Inputs


class Topic:
    """Publisher that is made once with the node; a subclass overrides what it needs."""

    def __init__(self, node: Any) -> None:
        """Store the node; a subclass declares its parameters and creates its publishers."""
        self._node = node

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
        return {}
