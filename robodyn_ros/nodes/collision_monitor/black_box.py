# SPDX-License-Identifier: Apache-2.0
"""Black box: events before and after each reaction, written by a thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

from robodyn_ros.control.collision.black_box.call_ring import CallRing
from robodyn_ros.control.collision.black_box.event import Event, Setup
from robodyn_ros.control.collision.black_box.event_folder import EventFolder
from robodyn_ros.control.collision.black_box.event_writer import EventWriter
from robodyn_ros.control.collision.black_box.reported import Notes, Reported
from robodyn_ros.nodes.collision_monitor.parameters import BLACK_BOX
from robodyn_ros.nodes.robot.model_node import ModelNode
from robodyn_ros.paths import expand


class BlackBox:
    """Ring of the calls of the detector, and its events in a folder.

    :ivar notes: reports of the node for the next event
    """

    def __init__(self, node: ModelNode, answers: Callable[[], Mapping[str, object]]) -> None:
        """Declare the parameters; without a folder, nothing is recorded.

        :raises ConfigError: a parameter that cannot be used
        """
        chosen = node.declared(BLACK_BOX)
        self._before, self._after = chosen['black_box_before'], chosen['black_box_after']
        self.notes, self._answers = Notes(), answers
        self._writer: EventWriter | None = None
        self._ring: CallRing | None = None
        self._open: tuple[str, int, float] | None = None
        if chosen['black_box_directory']:
            folder = expand(chosen['black_box_directory']).absolute()
            self._writer = EventWriter(EventFolder(folder, 1e6 * chosen['black_box_size']))

    def build(self, setup: Setup) -> CallRing | None:
        """Return a new ring for a detector, or None if nothing is recorded."""
        self.close()
        self._setup, self._ring = setup, None
        if self._writer is None:
            return None
        # 5 s more: the thread copies the calls while the ring goes on. Jitter adds further calls.
        rows = 1.2 * (self._before + self._after + 5.0) / setup.settings.period
        every = max(int(0.5 / setup.settings.period), 1)
        width = len(setup.settings.joints)
        # The bound is 100 s at 1 kHz, 40 MB for six joints.
        self._ring = CallRing(width=width, capacity=min(int(rows) + 200, 100_000), every=every)
        return self._ring

    def mark(self, reason: str) -> None:
        """Start an event, unless one is open: its end is `black_box_after` later."""
        if self._ring is not None and self._open is None:
            now = time.time_ns()
            first = now - int(1e9 * self._before)
            self._open = (reason, first, time.monotonic() + self._after)
            self.notes.open(now)

    def tick(self) -> None:
        """Note the answers to reactions, and give an event that has ended to the thread."""
        if self._open is None:
            return
        self.notes.answer(time.time_ns(), self._answers())
        if time.monotonic() >= self._open[2]:
            self.close()

    def close(self) -> None:
        """End an open event now."""
        if self._open is None or self._ring is None or self._writer is None:
            return
        reason, first, _ = self._open
        self._open = None
        self.notes.answer(time.time_ns(), self._answers())
        end, reported = self._ring.count, self.notes.since(first)
        self._writer.put(partial(_event, self._ring, self._setup, reason, first, end, reported))

    def wait(self) -> None:
        """Wait until all events are written; at most 3 s, because the process ends."""
        if self._writer is not None:
            self._writer.finish(3.0)

    def details(self) -> dict[str, object]:
        """Return number and last of the events, for the diagnostics."""
        writer = self._writer
        if writer is None:
            return {}
        return {
            'events': writer.written, 'events_lost': writer.lost, 'last_event': writer.last,
        }  # fmt: skip


def _event(
    ring: CallRing, setup: Setup, reason: str, first: int, end: int, reported: Reported
) -> Event | None:
    rows = ring.rows(first, end)
    return None if rows is None else Event(reason, setup, rows, reported)
