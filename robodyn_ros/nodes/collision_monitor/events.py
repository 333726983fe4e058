# SPDX-License-Identifier: Apache-2.0
"""Black box: the messages of the last seconds, written as an event after a reaction."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from robodyn_ros.control.collision.event_bag import (
    EventSettings,
    Message,
    delete_oldest,
    write_event,
)
from robodyn_ros.errors import clip
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.common import plain
from robodyn_ros.nodes.collision_monitor.parameters import BLACK_BOX, DETECTOR, NODE, REACTION
from robodyn_ros.nodes.robot.model_node import ModelNode
from robodyn_ros.paths import expand, resource
from robodyn_ros.recording.bags.joint_state_bag import HEADER, joint_state_topic
from robodyn_ros.recording.bags.mcap_writer import Topic

STATES, REFERENCE, ERROR, LEVELS = range(4)
"""Topics of an event: joint states, commanded positions, torque error, collision state."""
MOST = 300_000
"""Largest number of messages in memory."""


class EventRecorder:
    """Ring of messages, and their events in a folder. A thread writes; no cycle waits for a disk.

    :ivar used: False: nothing is recorded
    """

    def __init__(self, node: ModelNode, facts: Mapping[str, str]) -> None:
        """Declare the parameters.

        :param facts: of each bag, see `bag_metadata.py`
        :raises ConfigError: a parameter that cannot be used
        """
        self._node, self._facts = node, facts
        chosen = node.declare_rows(BLACK_BOX)
        folder = chosen['black_box_directory']
        self._folder = expand(folder).absolute() if folder else Path()
        self.used = bool(folder)
        self._limit = 1e6 * chosen['black_box_size']
        self._after = chosen['black_box_after']
        self._span = int(1e9 * (chosen['black_box_before'] + self._after))
        self._messages: deque[Message] = deque(maxlen=MOST)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix='black_box')
        self._last: Future[str] | None = None
        self._open: tuple[float, EventSettings] | None = None
        self._written = self._lost = 0
        self._result = ''

    def add(self, topic: int, data: bytes) -> None:
        """Store a serialised message, and forget those that are too old."""
        if not self.used:
            return
        stamp = self._node.get_clock().now().nanoseconds
        self._messages.append((topic, stamp, data))
        while self._messages[0][1] < stamp - self._span:
            self._messages.popleft()

    def start(self, reason: str, model: IdentifiedModel, values: Array) -> None:
        """Start an event, unless one is open: it ends `black_box_after` later.

        :param reason: why the reactions started
        :param values: parameter values of the model in use, shape (p,), SI
        """
        if not self.used or self._open is not None:
            return
        source = Path(model.source)
        settings = EventSettings(
            reason, self._node.get_clock().now().nanoseconds,
            str(source.absolute()) if source.is_file() else '', model.hash, values.tolist(),
            self._parameters(),
        )  # fmt: skip
        self._open = (now(self._node) + self._after, settings)

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the monitor, with an absolute path of the thresholds."""
        names = [row[0] for row in (*DETECTOR, *NODE, *REACTION, *BLACK_BOX)]
        values = self._node.get_parameters([*names, 'velocity_window'])
        given = {each.name: plain(each.value) for each in values}
        if given['thresholds']:
            given['thresholds'] = str(resource(given['thresholds']).absolute())
        return given

    def tick(self) -> None:
        """End an event whose time is over."""
        if self._open is not None and now(self._node) >= self._open[0]:
            self.close()

    def close(self) -> None:
        """End an open event now, and give it to the thread."""
        if self._open is None:
            return
        (_, settings), self._open = self._open, None
        self._last = self._pool.submit(self._write, settings, list(self._messages))

    def end(self) -> None:
        """Write the last event; wait for at most 3 s, because the process ends."""
        self.close()
        if self._last is not None:
            wait([self._last], timeout=3.0)
        self._pool.shutdown(wait=False)

    def details(self) -> dict[str, object]:
        """Return number and last of the events, for the diagnostics."""
        if not self.used:
            return {}
        return {'events': self._written, 'events_lost': self._lost, 'last_event': self._result}

    def _write(self, settings: EventSettings, messages: Sequence[Message]) -> str:
        try:
            path = write_event(self._folder, settings, _topics(), messages, self._facts)
            delete_oldest(self._folder, self._limit)
        except Exception as error:  # whatever happens here, the monitor goes on
            self._lost += 1
            self._result = f'lost: {clip(str(error))}'
        else:
            self._written += 1
            self._result = str(path)
        return self._result


def _topics() -> list[Topic]:
    """Return the topics, in the order of their numbers."""
    names = ('/joint_states', '/collision_monitor/reference', '/collision_monitor/torque_error')
    text = resource('package://robodyn_ros/msg/CollisionState.msg').read_text('utf-8')
    state = Topic(
        '/collision_monitor/collision_state', 'robodyn_ros/msg/CollisionState',
        f'{text}\n{HEADER}', '[]',
    )  # fmt: skip
    return [*map(joint_state_topic, names), state]
