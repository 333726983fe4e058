# SPDX-License-Identifier: Apache-2.0
"""Reported state of a robot and its drives: ready, stopped or unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robodyn_ros.errors import NO_FAULT, Fault


class ReportedState:
    """Last value on one topic about the state of a robot."""

    def __init__(self, name: str, ready: Sequence[str], timeout: float) -> None:
        """Start without a value.

        :param name: of the topic and its field, for messages
        :param ready: values with which the robot is ready; with any other one it is not
        :param timeout: largest age of a value, in [s]; 0: a value holds until the next one
        """
        self._name, self._ready = name, tuple(ready)
        self._timeout = timeout or math.inf
        self.forget('has reported nothing yet')

    def forget(self, why: str) -> None:
        """Make the value unknown.

        :param why: end of the sentence that starts with the name
        """
        self._received = math.nan
        self.stop = NO_FAULT
        self._unknown = Fault('robot_unknown', f'the state of the robot is unknown: {self._name} '
                              f'{why}')  # fmt: skip

    def receive(self, values: Sequence[str], now: float) -> None:
        """Take the values of the field, one for each drive; all of them must be ready.

        :param now: in [s]
        """
        if not values:
            self.forget('has no value')
            return
        self._received = now
        bad = next((value for value in values if value not in self._ready), None)
        self.stop = NO_FAULT if bad is None else Fault(
            'robot_stopped', f'the robot itself stopped: {self._name} is {bad:.80}, ready is '
            f'{" or ".join(self._ready)}',
        )  # fmt: skip

    def problem(self, now: float) -> Fault:
        """Return why the robot is not known to be ready at time `now` [s], or NO_FAULT."""
        if self.stop:
            return self.stop
        age = now - self._received
        if age <= self._timeout:
            return NO_FAULT
        if math.isnan(age):
            return self._unknown
        return Fault('robot_unknown', f'the state of the robot is unknown: nothing on '
                     f'{self._name} for {age:.2f} s (limit {self._timeout:g} s)')  # fmt: skip


class RobotReadiness:
    """Readiness of a robot by all of its topics, and the latch of its stops.

    A robot that was ready and then stops by itself is latched: somebody must look, and release it.
    Before it was ready, as while it is switched on, nothing is latched.
    """

    def __init__(self, states: Sequence[ReportedState]) -> None:
        """Start with nothing known.

        :param states: empty: the robot tells nothing, and counts as ready
        """
        self._states = tuple(states)
        self._was_ready = False
        self._latched = NO_FAULT

    def problem(self, now: float) -> Fault:
        """Return why the robot is not known to be ready at time `now` [s], or NO_FAULT.

        It latches a stop: call it after each value and in each cycle.
        """
        found = self._present(now)
        if not found:
            self._was_ready = True
        elif self._was_ready and found.name == 'robot_stopped':
            self._latched = found
        if self._latched and not found:
            return Fault('robot_stopped', f'{self._latched}; now it is ready: call ~/reset')
        return found

    def release(self, now: float) -> str:
        """Return '' and clear the latch, or why it must stay."""
        if self._latched and (found := self._present(now)):
            return f'the robot still reports its stop, or nothing: {found}'
        self._latched = NO_FAULT
        return ''

    @property
    def latched(self) -> bool:
        """True from a stop of a robot that was ready until `release`."""
        return bool(self._latched)

    def _present(self, now: float) -> Fault:
        """Return the first stop, or else what is unknown, or NO_FAULT."""
        found = [fault for state in self._states if (fault := state.problem(now))]
        return next((fault for fault in found if fault.name == 'robot_stopped'),
                    found[0] if found else NO_FAULT)  # fmt: skip
