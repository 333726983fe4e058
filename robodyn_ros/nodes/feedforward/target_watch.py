# SPDX-License-Identifier: Apache-2.0
"""State of the target controller, requested while a node runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lifecycle_msgs.msg import TransitionEvent
from lifecycle_msgs.srv import GetState
from rclpy.node import Node
from rclpy.publisher import Publisher

from robodyn_ros.control.feedforward.delivery import Delivery, TargetState
from robodyn_ros.nodes.base.refusals import shown
from robodyn_ros.nodes.robot.controller_facts import INTERVAL, PATIENCE

try:
    from controller_manager_msgs.srv import ListControllers
except ImportError:  # not installed: a controller's get_state has to do
    ListControllers = None

NEVER = -float('inf')


class TargetWatch:
    """Periodic requests for the state of a controller, which do not block.

    The source is `list_controllers` of the controller manager in the namespace of the controller
    (package controller_manager_msgs), which also reports the claimed interfaces. Without a
    controller manager, as in the simulated cell, the service `get_state` of the controller is
    used. Without an answer the state is unknown until the controller reports a transition.

    :ivar delivery: state of the delivery of commands to the drives
    :ivar problem: why they do not arrive, or ''
    :ivar refusal: why torque must not be enabled, and what to do, or ''
    :ivar waiting: the same, or that an answer is expected, or ''
    """

    def __init__(
        self,
        node: Node,
        publisher: Publisher,
        *,
        ask: bool = False,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare the requests; `tick` sends them.

        :param publisher: of the commands, on a topic below the name of the controller
        :param ask: False: no requests, no refusals, and a topic without subscribers is accepted
        :param changed: called when one of the instance variables has changed
        """
        self.topic = str(publisher.topic_name)
        self.name = self.topic.rsplit('/', 1)[0]
        self.ask = ask
        self.joints: Sequence[str] = ()
        self.delivery = Delivery.UNKNOWN
        self.problem = self.refusal = self.waiting = ''
        self._known = TargetState(self.name)
        self._publisher = publisher
        self._changed = changed
        self._sources: list[tuple[Any, Any, Callable[[Any], TargetState]]] = []
        if ask:
            manager = f'{self.name.rpartition("/")[0]}/controller_manager/list_controllers'
            for kind, service, read in (
                (ListControllers, manager, self._listed),
                (GetState, f'{self.name}/get_state', self._told),
            ):
                if kind is not None:
                    client = node.create_client(kind, service)
                    self._sources.append((client, kind.Request(), read))
        self._question = 0
        self._pending: tuple[Any, Any] | None = None
        self._asked = self._answered = self._looked = NEVER
        self._met = float('inf')
        if ask:
            self.waiting = self._not_known()

    def tick(self) -> None:
        """Check for subscribers and request the state; may be called at any rate."""
        now = time.monotonic()
        if now - self._looked < INTERVAL:
            return
        self._looked = now
        if self._answered != NEVER and now - self._answered > PATIENCE + INTERVAL:
            self._answered = NEVER
            self._known = TargetState(self.name)
        if self.ask and (self._pending is None or now - self._asked >= PATIENCE):
            self._send(now)
        self._update()

    def event(self, event: TransitionEvent) -> None:
        """Use a transition that the controller reports."""
        self._drop()  # a pending answer may be older
        self._answered = NEVER
        self._known = TargetState(self.name, shown(event.goal_state.label))
        self._update()

    def _send(self, now: float) -> None:
        self._drop()
        for client, request, read in self._sources:
            if client.service_is_ready():
                self._asked = now
                self._pending = client, client.call_async(request)
                self._pending[1].add_done_callback(partial(self._take, self._question, read))
                return

    def _drop(self) -> None:
        """Ignore the answer to the last request."""
        self._question += 1
        if self._pending is not None:
            client, future = self._pending
            client.remove_pending_request(future)
            self._pending = None

    def _take(self, number: int, read: Callable[[Any], TargetState], future: Any) -> None:
        if number != self._question:
            return
        self._pending = None
        self._answered = time.monotonic()
        self._known = read(future.result())
        self._update()

    def _listed(self, answer: Any) -> TargetState:
        short = self.name.rpartition('/')[2]
        for item in answer.controller:
            if item.name == short:
                return TargetState(self.name, item.state, tuple(item.claimed_interfaces))
        return TargetState(self.name, 'not loaded')

    def _told(self, answer: Any) -> TargetState:
        return TargetState(self.name, str(answer.current_state.label))

    def _update(self) -> None:
        """Derive delivery, problem and refusal, and report changes."""
        before = self.delivery, self.problem, self.waiting
        self.problem = self._known.problem(self.joints)
        self.delivery = self._known.delivery(self.joints)
        if not self._publisher.get_subscription_count():
            self._met = float('inf')
            self.delivery = Delivery.NOT_DELIVERED
            if self.ask:
                self.problem = self.problem or f'{self.topic} has no subscriber'
        else:
            self._met = min(self._met, time.monotonic())
        if self.ask:
            self.refusal = self._refusal()
            self.waiting = self.refusal or self._not_known()
        if before != (self.delivery, self.problem, self.waiting):
            self._changed()

    def _refusal(self) -> str:
        if not self.problem:
            return ''
        short = self.name.rpartition('/')[2]
        return (
            f'{self.problem}, so commands reach no drive: activate it '
            f'(ros2 control switch_controllers --activate {short})'
        )

    def _not_known(self) -> str:
        """Return a sentence if an answer about the state is still expected, or ''."""
        if self._known.state:
            return ''
        ready = any(client.service_is_ready() for client, *_ in self._sources)
        if not ready and time.monotonic() - self._met >= PATIENCE:
            return ''
        return f'the state of {self.name} is not known yet'
