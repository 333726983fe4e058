# SPDX-License-Identifier: Apache-2.0
"""Pushes of the simulated robot."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters

from robodyn_ros.cell.push import Push
from robodyn_ros.cli.demo.client import Client
from robodyn_ros.errors import RobodynError
from robodyn_ros.nodes.base.clock import nanoseconds_of
from robodyn_ros.nodes.base.common import LATCHED_QOS


class Pushing:
    """Client of the parameter and the topic `push` of a cell."""

    def __init__(self, client: Client, cell: str = 'cell') -> None:
        """Connect, so that a later push starts at once.

        :param cell: name of the node, with its namespace
        :raises RobodynError: there is no such node
        """
        self._client, self._service = client, f'{cell}/set_parameters'
        self._started: list[Any] = []
        client.node.create_subscription(
            WrenchStamped, f'{cell}/push', self._started.append, LATCHED_QOS
        )
        client.prepare(SetParameters, self._service)

    def push(self, push: Push) -> int:
        """Push; return the stamp of the first joint states that show it, in [ns].

        :raises RobodynError: the cell refuses it, or does not answer
        """
        self._started.clear()
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=str(push))
        request = SetParameters.Request(parameters=[Parameter(name='push', value=value)])
        result = self._client.call(SetParameters, self._service, request).results[0]
        if not result.successful:
            raise RobodynError(f'{self._service}: {result.reason}')
        self._client.wait(lambda: bool(self._started), 20.0, 'the start of the push')
        return nanoseconds_of(self._started[-1].header.stamp)
