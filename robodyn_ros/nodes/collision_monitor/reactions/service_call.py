# SPDX-License-Identifier: Apache-2.0
"""Services that the collision monitor calls until they acknowledge."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from robodyn_ros.control.collision.reaction.retry import Retry


class ServiceCall:
    """Call of a service that is repeated with a period until an answer is accepted.

    An answer to any of the last calls counts, so that a slow service is acknowledged too. A
    service that ended loses its calls; the next one reaches the service that replaces it.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        service: str,
        request: Any,
        *,
        period: float,
        accepts: Callable[[Any], bool],
        then: Callable[[], None] = lambda: None,
    ) -> None:
        """Create the client.

        :param period: time between two calls, in [s]
        :param accepts: returns True for an answer that ends the calls
        """
        self._node, self._request, self._accepts, self._then = node, request, accepts, then
        self._client = node.create_client(kind, service)
        self._retry = Retry(period)
        self._open: deque[Any] = deque()
        self._text = self._logged = ''

    @property
    def pending(self) -> bool:
        """True until an answer was accepted."""
        return self._retry.pending

    @property
    def available(self) -> bool:
        """True if there is a server now."""
        return bool(self._client.service_is_ready())

    def start(self) -> None:
        """Call now, and then with the period."""
        self.stop()
        self._retry.start(time.monotonic())
        self.tick()

    def stop(self) -> None:
        """End the calls, and forget their result."""
        self._retry.stop()
        self._text = ''
        self._forget(0)

    def tick(self) -> None:
        """Call again if it is time."""
        if not self._retry.due(time.monotonic()):
            return
        if not self.available:
            self._text = f'{self._client.srv_name} is not available'
            return
        if not self._open:
            self._text = 'called, no answer yet'
        future = self._client.call_async(self._request)
        self._open.append(future)
        future.add_done_callback(self._on_answer)
        self._forget(10)

    def _forget(self, most: int) -> None:
        while len(self._open) > most:
            self._client.remove_pending_request(self._open.popleft())

    def _on_answer(self, future: Any) -> None:
        if future not in self._open:  # of an earlier reaction
            return
        self._open.remove(future)
        answer = future.result()
        success = getattr(answer, 'success', True)
        self._text = f'success {success}: {getattr(answer, "message", "")}'.rstrip(': ')
        if self.pending and self._accepts(answer):
            self._retry.acknowledge()
            self._forget(0)
            self._then()

    @property
    def result(self) -> str:
        """Result and number of the last calls, for the diagnostics."""
        count = self._retry.attempts
        return f'{self._text} ({count} calls)' if count > 1 else self._text

    def log(self) -> None:
        """Log the result if it is new; this takes too long for the cycle."""
        if self._text and self._text != self._logged:
            self._node.get_logger().warning(f'{self._client.srv_name}: {self._text}')
        self._logged = self._text
