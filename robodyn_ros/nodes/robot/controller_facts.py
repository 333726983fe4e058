# SPDX-License-Identifier: Apache-2.0
"""Joints and command interfaces of a ros2_control controller, from its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from robodyn_ros.control.feedforward.command_target import CommandTarget
from robodyn_ros.nodes.base.clock import now, start_timer

INTERVAL = 0.5
"""Time between requests to a controller, in [s]: short against the patience of an operator."""
PATIENCE = 2.0
"""Longest time of a service call, in [s]; a later answer is not expected: calls between processes
take milliseconds."""


class ControllerFacts:
    """Periodic request while `asking`; `target` is the last answer, None: no answer yet."""

    def __init__(self, node: Node, topic: str, changed: Callable[[], None]) -> None:
        """Start to ask.

        :param topic: resolved name of the controller's command topic, in the namespace of its name
        :param changed: called when an answer differs from the one before
        """
        self.name = topic.rsplit('/', 1)[0]
        self.asking = True
        self.target: CommandTarget | None = None
        self._node = node
        self._names = ['joints', 'command_interfaces']
        self._changed = changed
        self._client = node.create_client(GetParameters, f'{self.name}/get_parameters')
        self._asked = -float('inf')
        start_timer(node, INTERVAL, self._ask)

    def _ask(self) -> None:
        clock = now(self._node)
        if not self.asking or clock - self._asked < PATIENCE:
            return
        if not self._client.service_is_ready():
            return
        self._asked = clock
        request = GetParameters.Request(names=self._names)
        self._client.call_async(request).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        self._asked = -float('inf')
        values = future.result().values
        # A node that lacks one of the parameters answers with no values at all.
        joints, interfaces = (
            (tuple(value.string_array_value) for value in values) if len(values) == 2 else ((), ())
        )
        target = CommandTarget(self.name.lstrip('/'), joints, interfaces)
        if target != self.target:
            self.target = target
            self._changed()


def offer_parameters(node: Node, controller: str, facts: Mapping[str, Sequence[str]]) -> None:
    """Answer as the node of a controller does, with no values if a parameter is not known.

    :param controller: name of its node
    :param facts: value of every parameter there is; it may change
    """

    def respond(request: Any, response: Any) -> Any:
        kind = ParameterType.PARAMETER_STRING_ARRAY
        if set(request.names) <= set(facts):
            response.values = [
                ParameterValue(type=kind, string_array_value=list(facts[name]))
                for name in request.names
            ]
        return response

    node.create_service(GetParameters, f'{controller}/get_parameters', respond)
