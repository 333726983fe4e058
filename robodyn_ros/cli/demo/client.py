"""Client of the demonstration: service calls, goals and topics."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from robodyn_ros.errors import RobodynError
from robodyn_ros.nodes.base.spinning import make_executor

START_TIMEOUT = 60.0
"""Longest start of a node on a busy machine, until it offers its services, in [s]."""


class Client:
    """Node that waits for answers with deadlines and checks that all processes still run."""

    def __init__(self, check: Callable[[], None], *, fast: bool = False) -> None:
        """Join the graph.

        :param check: called while waiting; raises if a node has died
        :param fast: spin on the events executor, for topics of the servo rate
        """
        rclpy.init()
        self.node: Node = rclpy.create_node('robodyn_demo')
        self._check = check
        self._executor: Executor = make_executor() if fast else SingleThreadedExecutor()
        self._executor.add_node(self.node)
        # Kept until the end: the events executor may crash if an entity is destroyed during
        # discovery (rclpy issue 1644).
        self._clients: dict[tuple[Any, str], Any] = {}

    def wait(self, done: Callable[[], bool], timeout: float, what: str) -> None:
        """Spin until `done()`.

        :raises RobodynError: it takes longer than `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while not done():
            self._executor.spin_once(timeout_sec=0.05)
            self._check()
            if time.monotonic() > deadline:
                raise RobodynError(f'waited {timeout:.0f} s for {what} without success')

    def spin(self, duration: float) -> None:
        """Process messages for some seconds."""
        end = time.monotonic() + duration
        self.wait(lambda: time.monotonic() >= end, duration + 5.0, 'time to pass')

    def prepare(self, kind: Any, name: str) -> None:
        """Create the client of a service ahead of its first call.

        A server drops the answer to a client that it has not discovered yet. On a busy machine,
        discovery takes seconds.
        """
        if (kind, name) not in self._clients:
            self._clients[kind, name] = self.node.create_client(kind, name)

    def call(self, kind: Any, name: str, request: Any, timeout: float = 20.0) -> Any:
        """Call a service and return its answer.

        :raises RobodynError: no service or no answer in time, or success is False
        """
        self.prepare(kind, name)
        client = self._clients[kind, name]
        self.wait(client.service_is_ready, START_TIMEOUT, f'service {name}')
        answer = self._result(client.call_async(request), timeout, f'an answer of {name}')
        if not answer.success:
            raise RobodynError(f'{name}: {answer.message}')
        return answer

    def run_action(
        self,
        kind: Any,
        name: str,
        goal: Any,
        timeout: float,
        feedback: Callable[[Any], None] | None = None,
    ) -> Any:
        """Send a goal, wait until it ends, and return the result.

        :raises RobodynError: it was refused, failed, or did not end in time
        """
        handle = self.begin_action(kind, name, goal, feedback)
        answer = self.end_action(handle, name, timeout)
        if answer.status != GoalStatus.STATUS_SUCCEEDED or not answer.result.success:
            raise RobodynError(f'{name}: {answer.result.message}')
        return answer.result

    def begin_action(
        self, kind: Any, name: str, goal: Any, feedback: Callable[[Any], None] | None = None
    ) -> Any:
        """Send a goal and return its handle, for `end_action`.

        :raises RobodynError: it was refused, or not answered in time
        """
        if (kind, name) not in self._clients:
            self._clients[kind, name] = ActionClient(self.node, kind, name)
        client = self._clients[kind, name]
        self.wait(client.server_is_ready, START_TIMEOUT, f'action {name}')
        report = None if feedback is None else (lambda message: feedback(message.feedback))
        sent = client.send_goal_async(goal, feedback_callback=report)
        handle = self._result(sent, 10.0, f'the answer of {name} to a goal')
        if not handle.accepted:
            raise RobodynError(f'{name} refused the goal')
        return handle

    def end_action(self, handle: Any, name: str, timeout: float) -> Any:
        """Wait until an action ends; return its status and result.

        :raises RobodynError: it did not end in time
        """
        return self._result(handle.get_result_async(), timeout, f'the result of {name}')

    def _result(self, future: Future, timeout: float, what: str) -> Any:
        self.wait(future.done, timeout, what)
        return future.result()

    def __enter__(self) -> Client:
        """Return the client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the graph."""
        self._executor.remove_node(self.node)
        self._executor.shutdown()
        self._clients.clear()
        self.node.destroy_node()
        rclpy.try_shutdown()
