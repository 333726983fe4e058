# SPDX-License-Identifier: Apache-2.0
"""Parameters that the nodes began with, to give them back after a fuzz."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import (
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParametersAtomically,
)


class OwnParameters:
    """Names and values of the parameters of each node.

    :ivar names: by node
    """

    def __init__(self, client: Any) -> None:
        """Use this client, which has learned nothing yet."""
        self._client = client
        self.names: dict[str, list[str]] = {}
        self._values: dict[str, dict[str, ParameterValue]] = {}

    def learn(self, node: str) -> None:
        """Ask a node for its parameters."""
        self.names[node] = self._names(node)
        self._values[node] = self._present(node)

    def restore(self, node: str) -> str:
        """Give a node its parameters back, as an operator would; return '' or why it refuses.

        Valid ones may forbid every motion, such as a floor above the robot. What had no value
        gets an empty one.
        """
        own = self._values[node]
        changed = [
            Parameter(name=name, value=own.get(name, ParameterValue(type=now.type)))
            for name, now in self._present(node).items()
            if now != own.get(name)
        ]
        request = SetParametersAtomically.Request(parameters=changed)
        service = f'{node}/set_parameters_atomically'
        answer = self._client.call(SetParametersAtomically, service, request)
        return '' if answer.result.successful else str(answer.result.reason)

    def _present(self, node: str) -> dict[str, ParameterValue]:
        """Return the values of the parameters that have one: others make an answer empty."""
        names = self._names(node)
        typed = GetParameterTypes.Request(names=names)
        types = self._client.call(GetParameterTypes, f'{node}/get_parameter_types', typed).types
        names = [name for name, kind in zip(names, types, strict=True) if kind]
        request = GetParameters.Request(names=names)
        values = self._client.call(GetParameters, f'{node}/get_parameters', request).values
        return dict(zip(names, values, strict=True))

    def _names(self, node: str) -> list[str]:
        """Return the present names: those of a model come and go with it."""
        request = ListParameters.Request()
        answer = self._client.call(ListParameters, f'{node}/list_parameters', request)
        return list(answer.result.names)
