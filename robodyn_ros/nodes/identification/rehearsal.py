# SPDX-License-Identifier: Apache-2.0
"""First runs of a motion at a lower speed, which are not recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from robodyn_ros.excitation.slowed import check_speeds
from robodyn_ros.nodes.base.background import Background
from robodyn_ros.nodes.base.common import declare
from robodyn_ros.nodes.base.waits import Check, until


class Rehearsal:
    """Speeds of the runs, and the confirmation of an operator between two of them."""

    def __init__(self, node: Node, background: Background) -> None:
        """Declare the parameters and offer the service."""
        self._node, self._background = node, background
        declare(
            node,
            'speeds',
            [0.1, 0.5, 1.0],
            'shares of the planned speed at which a motion runs one after the other; the last run '
            'is recorded; [1.0]: only this one',
        )
        text = 'wait for the service ~/confirm before each run at a higher speed'
        declare(node, 'confirm_each_speed', False, text)
        self._asked = self._confirmed = False
        node.create_service(
            Trigger, '~/confirm', self._on_confirm, callback_group=background.group
        )

    def speeds(self, goal: Any) -> tuple[float, ...]:
        """Return the shares of a goal, or of the parameter.

        :raises MotionError: they are not increasing shares in (0, 1]
        """
        given: Sequence[float] = goal.speeds
        return check_speeds(given if len(given) else self._node.get_parameter('speeds').value)

    async def wait_for_confirm(self, text: str, tell: Callable[[str], None], check: Check) -> None:
        """Wait for the operator, if `confirm_each_speed` is set.

        :raises RobodynError: that of the check
        """
        if not self._node.get_parameter('confirm_each_speed').value:
            return
        wish = f'{text}: call ~/confirm to go on, or cancel the goal'
        self._node.get_logger().info(wish)
        self._asked, self._confirmed = True, False
        try:
            await until(
                self._background, lambda: self._confirmed, math.inf, 'the confirmation', check,
                partial(tell, wish),
            )  # fmt: skip
        finally:
            self._asked = False

    def _on_confirm(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        response.success = self._confirmed = self._asked
        response.message = 'the motion goes on' if self._asked else 'nothing waits for it'
        return response


def steps(speeds: Sequence[float]) -> Iterator[tuple[float, str]]:
    """Yield the speeds before the last one, each with a sentence about what comes next."""
    for speed, following in pairwise(speeds):
        yield speed, f'the motion ran at {speed:.0%} of its speed, {following:.0%} is next'
