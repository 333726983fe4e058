"""What an operator does by hand: call services, send goals, look at topics."""

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
"""Longest time until a node offers its services, on a busy machine, in [s]."""


class Client:
    """A node that waits for answers with deadlines; `check` is called while it waits."""

    def __init__(self, check: Callable[[], None], *, fast: bool = False) -> None:
        """Join the graph.

        :param check: raises when waiting has become pointless (a node died)
        :param fast: spin on the events executor, for topics that come every cycle
        """
        rclpy.init()
        self.node: Node = rclpy.create_node('robodyn_demo')
        self._check = check
        self._executor: Executor = make_executor() if fast else SingleThreadedExecutor()
        self._executor.add_node(self.node)
        # Kept until the end: the events executor crashes at times when something is destroyed
        # while DDS hears of others (rclpy issue 1644).
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
                raise RobodynError(f'waited {timeout:.0f} s for {what} in vain')

    def spin(self, duration: float) -> None:
        """Let messages come in for some seconds."""
        end = time.monotonic() + duration
        self.wait(lambda: time.monotonic() >= end, duration + 5.0, 'time to pass')

    def prepare(self, kind: Any, name: str) -> None:
        """Create the client of a service that will be called.

        Client and server must know each other before the call: a server drops the answer to a
        client that it does not know yet, and on a busy machine that takes seconds.
        """
        if (kind, name) not in self._clients:
            self._clients[kind, name] = self.node.create_client(kind, name)

    def call(self, kind: Any, name: str, request: Any, timeout: float = 20.0) -> Any:
        """Call a service and return its answer.

        :raises RobodynError: no such service in time, no answer in time, or success is False.
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
        """Send a goal, wait for its end and return the result.

        :raises RobodynError: refused, failed, or not done in time.
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

        :raises RobodynError: refused, or not answered in time.
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
        """Wait for the end of an action; return its status and result.

        :raises RobodynError: not done in time.
        """
        return self._result(handle.get_result_async(), timeout, f'the result of {name}')

    def _result(self, future: Future, timeout: float, what: str) -> Any:
        self.wait(future.done, timeout, what)
        return future.result()

    def __enter__(self) -> Client:
        """Nothing more to prepare."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the graph."""
        self._executor.remove_node(self.node)
        self._executor.shutdown()
        self._clients.clear()
        self.node.destroy_node()
        rclpy.try_shutdown()
