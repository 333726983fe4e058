# SPDX-License-Identifier: Apache-2.0
"""Parameters of the simulated joint_trajectory_controller, as a service of ros2_control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from robodyn_ros.nodes.robot.controller_facts import answer


def offer_parameters(
    node: Node, controller: str, joints: Sequence[str], interfaces: Sequence[str]
) -> None:
    """Offer the joints and command interfaces of a controller, for those who ask before commands.

    :param controller: name of its node
    """
    facts = [('joints', joints), ('command_interfaces', interfaces)]

    def respond(request: Any, response: Any) -> Any:
        response.values = answer(facts, request.names)
        return response

    node.create_service(GetParameters, f'{controller}/get_parameters', respond)
