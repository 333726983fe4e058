# SPDX-License-Identifier: Apache-2.0
"""Nodes that do not spin: they only have parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.parameter import Parameter
from ros_client import environment, joined


@contextmanager
def idle_nodes(number: int, name: str = 'n') -> Iterator[Callable[..., Any]]:
    """Yield a function that makes a node of this name with given parameter values.

    Its keywords are those of `rclpy.create_node`. The nodes have one context, which ends with
    them.
    """
    context, nodes = joined(environment(number)), []

    def node_with(values: dict[str, Any], **options: Any) -> Any:
        given = [Parameter(key, value=value) for key, value in values.items()]
        nodes.append(
            rclpy.create_node(
                name, context=context, parameter_overrides=given, enable_rosout=False, **options
            )
        )
        return nodes[-1]

    try:
        yield node_with
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.shutdown(context=context)
