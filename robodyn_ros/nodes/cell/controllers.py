# SPDX-License-Identifier: Apache-2.0
"""Parameters and states of the simulated cell's controllers, with ros2_control's services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle_msgs.msg import State, TransitionEvent
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from robodyn_ros.cell.controllers import Controllers
from robodyn_ros.cell.driver import DriverConfig
from robodyn_ros.control.feedforward.delivery import ACTIVE
from robodyn_ros.nodes.robot.controller_facts import answer

try:
    from controller_manager_msgs.msg import ControllerState
    from controller_manager_msgs.srv import ListControllers
except ImportError:  # not installed: get_state has to do
    ListControllers = None


class ControllerServices:
    """Parameters and lifecycle state of each controller, as services and transition events.

    `get_state` stands for the `list_controllers` of a controller manager, which needs the package
    controller_manager_msgs; where that is installed, both are there.
    """

    def __init__(
        self,
        node: Node,
        controllers: Controllers,
        facts: Mapping[str, list[tuple[str, Any]]],
        driver: DriverConfig,
    ) -> None:
        """Offer the services.

        :param facts: parameters of each controller, by its name in the cell
        """
        self._controllers, self._driver = controllers, driver
        self._events = {
            name: node.create_publisher(
                TransitionEvent, f'{driver.controller(name)}/transition_event', 10
            )
            for name in facts
        }
        self._states = self._labels()
        for name in facts:
            self._serve(node, name, facts[name])
        if ListControllers is not None:
            node.create_service(
                ListControllers, 'controller_manager/list_controllers', self._on_list
            )

    def announce(self) -> None:
        """Publish the transitions since the last call."""
        states = self._labels()
        for name, label in states.items():
            if label != self._states[name]:
                event = TransitionEvent(
                    start_state=_message(self._states[name]), goal_state=_message(label)
                )
                self._events[name].publish(event)
        self._states = states

    def _labels(self) -> dict[str, str]:
        return {name: state for name, (state, _) in self._controllers.states().items()}

    def _serve(self, node: Node, name: str, facts: list[tuple[str, Any]]) -> None:
        def parameters(request: Any, response: Any) -> Any:
            response.values = answer(facts, request.names)
            return response

        def state(_: Any, response: Any) -> Any:
            response.current_state = _message(self._labels()[name])
            return response

        public = self._driver.controller(name)
        node.create_service(GetParameters, f'{public}/get_parameters', parameters)
        node.create_service(GetState, f'{public}/get_state', state)

    def _on_list(self, _: Any, response: Any) -> Any:
        response.controller = [
            ControllerState(
                name=self._driver.controller(name), state=state, claimed_interfaces=list(claimed)
            )
            for name, (state, claimed) in self._controllers.states().items()
        ]
        return response


def _message(label: str) -> State:
    number = State.PRIMARY_STATE_ACTIVE if label == ACTIVE else State.PRIMARY_STATE_INACTIVE
    return State(id=number, label=label)
