# SPDX-License-Identifier: Apache-2.0
"""Services that are answered after their callback has returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node


class DeferredService:
    """Service whose callback may return None, and give the answer later.

    The node spins meanwhile. Coroutines would do the same, but the events executor (rclpy 7.1)
    cannot run them. At most one request may wait for its answer.
    """

    def __init__(
        self, node: Node, kind: Any, name: str, callback: Callable[[Any, Any], Any]
    ) -> None:
        """Offer the service."""
        service = node.create_service(kind, name, callback)
        self._send = service.send_response
        self._header: Any = None
        # executors call this method of the object with what the callback has returned
        service.send_response = self._on_returned

    def _on_returned(self, response: Any, header: Any) -> None:
        if response is None:
            self._header = header
        else:
            self._send(response, header)

    def answer(self, response: Any) -> None:
        """Answer the request that waits."""
        header, self._header = self._header, None
        self._send(response, header)
