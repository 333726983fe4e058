# SPDX-License-Identifier: Apache-2.0
"""Client of the demonstration: service calls, goals and topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from rcl_interfaces.srv import GetParameters
from rclpy.action import ActionClient
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.task import Future

from robodyn_ros.errors import RobodynError
from robodyn_ros.faults import decode_fault
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.spinning import make_executor
from robodyn_ros.nodes.base.suite_node import SuiteNode

START_TIMEOUT = 300.0
"""Longest start of a node whose process lives, on a busy machine, in [s]."""


class Client:
    """Node that waits for answers with deadlines and checks that all processes still run."""

    def __init__(
        self, check: Callable[[], None], *, fast: bool = False, simulated: bool = True
    ) -> None:
        """Join the graph.

        :param check: called while waiting; raises if a node has died
        :param fast: spin on the events executor, for topics of the servo rate
        :param simulated: the nodes have the time of the cell, which waits for this client too
        """
        rclpy.init()
        self.simulated = simulated
        sim_time = [Parameter('use_sim_time', value=simulated)]
        self.node = SuiteNode('robodyn_demo', parameter_overrides=sim_time)
        self._check = check
        self._executor: Executor = make_executor() if fast else SingleThreadedExecutor()
        self._executor.add_node(self.node)
        # Kept until the end: the events executor may crash if an entity is destroyed during
        # discovery (rclpy issue 1644).
        self._clients: dict[tuple[Any, str], Any] = {}

    def now(self) -> float:
        """Return the time of the simulation, in [s]; only differences mean something."""
        return now(self.node)

    def wait(self, done: Callable[[], bool], timeout: float, what: str) -> None:
        """Spin until `done()`.

        :raises RobodynError: after `timeout` seconds, or a node has ended
        """
        deadline = self.now() + timeout
        while not done():
            self._executor.spin_once(timeout_sec=0.05)
            self._check()
            if self.now() > deadline:
                raise RobodynError(f'waited {timeout:.0f} s for {what} without success')

    def spin(self, duration: float) -> None:
        """Process messages for some seconds."""
        end = self.now() + duration
        self.wait(lambda: self.now() >= end, duration + 5.0, 'time to pass')

    def prepare(self, kind: Any, name: str) -> Any:
        """Return the client of a service or action, made at the first use and known to its server.

        A server drops the answer to a client that it has not discovered yet: `prepare` what
        must answer at once ahead of its first use.

        :raises RobodynError: no such server within `START_TIMEOUT`
        """
        if (kind, name) not in self._clients:
            if hasattr(kind, 'Goal'):
                action = ActionClient(self.node, kind, name)
                client, ready = action, action.server_is_ready
            else:
                client = self.node.create_client(kind, name)
                ready = client.service_is_ready
            self.wait(ready, START_TIMEOUT, f'the server of {name}')
            self._wait_until_known(name.rpartition('/')[0], (kind, name))
            self._clients[kind, name] = client
        return self._clients[kind, name]

    def _wait_until_known(self, node: str, user: tuple[Any, str]) -> None:
        """Wait until a node has discovered all clients made so far.

        A process announces its clients in the order in which they were made, so an answer to a new
        one shows that the node knows the earlier ones. Asking for a parameter may be repeated.
        """
        client = self.node.create_client(GetParameters, f'{node}/get_parameters')
        self._clients[GetParameters, f'{node} for {user}'] = client
        self.wait(client.service_is_ready, START_TIMEOUT, f'the parameters of {node}')
        asked: list[Future] = []

        def has_answer() -> bool:
            if self.now() > start + len(asked):
                asked.append(client.call_async(GetParameters.Request()))
            return any(future.done() for future in asked)

        start = self.now()
        self.wait(has_answer, START_TIMEOUT, f'an answer of {node}')

    def call(self, kind: Any, name: str, request: Any, timeout: float = 20.0) -> Any:
        """Call a service and return its answer; a RobodynError if it has no success."""
        client = self.prepare(kind, name)
        answer = self._result(client.call_async(request), timeout, f'an answer of {name}')
        if not getattr(answer, 'success', True):
            raise _make_error(name, answer)
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
            raise _make_error(name, answer.result)
        return answer.result

    def begin_action(
        self, kind: Any, name: str, goal: Any, feedback: Callable[[Any], None] | None = None
    ) -> Any:
        """Send a goal and return its handle, for `end_action`.

        :raises RobodynError: it was refused, or not has_answer in time
        """
        client = self.prepare(kind, name)
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
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.remove_node(self.node)
        self._executor.shutdown()
        self._clients.clear()
        self.node.destroy_node()
        rclpy.try_shutdown()


def _make_error(name: str, answer: Any) -> RobodynError:
    """Return the error of an answer or a result; services of std_srvs give no code."""
    text = f'{name}: {answer.message}'
    return RobodynError(decode_fault(getattr(answer, 'fault_code', -1), text))
