# SPDX-License-Identifier: Apache-2.0
"""Results of goals, which are executed only after their work has ended."""

from __future__ import annotations

import time
from typing import Any

from robodyn_ros.action import Excite

FEEDBACK_PERIOD = 0.1
"""Period of the feedback of goals, in [s]."""
LINGER = 0.3
"""Time for DDS to transmit the last result before the node ends, in [s]."""


class Results:
    """Keeps the result of each goal until the action server asks for it."""

    def __init__(self) -> None:
        """Start empty."""
        self._results: dict[bytes, Excite.Result] = {}
        self._given = time.monotonic() - LINGER

    @property
    def left(self) -> bool:
        """Return True if DDS had time to transmit the last result."""
        return time.monotonic() - self._given >= LINGER

    def give(self, goal: Any, result: Excite.Result) -> None:
        """End a goal with a result."""
        self._given = time.monotonic()
        self._results[bytes(goal.goal_id.uuid)] = result
        goal.execute()

    def conclude(self, goal: Any) -> Excite.Result:
        """Set the status of a goal and return its result: the action's execute callback."""
        result = self._results.pop(bytes(goal.goal_id.uuid))
        if goal.is_cancel_requested:
            goal.canceled()
        elif result.success:
            goal.succeed()
        else:
            goal.abort()
        return result
