# SPDX-License-Identifier: Apache-2.0
"""State of the robot as the live page shows it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from robodyn_ros.watch.diagnostics import DiagnosticList
from robodyn_ros.watch.events import Events
from robodyn_ros.watch.joint_levels import NO_DATA, JointLevels
from robodyn_ros.watch.progress import Progress
from robodyn_ros.watch.source import DataAge

STALE_AFTER = 0.5
"""Age at which monitor, feed-forward and measured torque are stale, in [s]: five periods of slow
joint states (10 Hz)."""


class Board:
    """Last data of each sender, their age, and the events. Stale data are shown as no data.

    Quantities are in [Nm] or [N], joint side of the gear.
    """

    def __init__(
        self,
        *,
        units: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Start without data.

        :param units: unit of the torque of each joint, where it is known
        :param clock: steady time, in [s]
        :param wall: time since the epoch, in [s]
        """
        self._units = dict(units or {})
        self._wall = wall
        self.events = Events(clock=wall)
        self.diagnostics = DiagnosticList(self.events, clock)
        self._levels = JointLevels(self.events, clock)
        self._sources = {
            name: DataAge(STALE_AFTER, clock) for name in ('monitor', 'feedforward', 'measured')
        }
        self._was_fresh = dict.fromkeys(self._sources, False)
        self._progress = Progress(clock)
        self._monitor: dict[str, Any] = {
            'latched': False, 'message': '', 'muted': False, 'collision': '',
        }  # fmt: skip
        self._feedforward: dict[str, Any] = {}
        self._torques: dict[str, dict[str, float]] = {}
        self._measured: dict[str, float] = {}

    @property
    def joints(self) -> list[str]:
        """Names of the joints, in the order of the monitor, else of the feed-forward."""
        return list(self._levels.joints or self._torques or self._measured)

    def monitor(
        self,
        names: Sequence[str],
        level: Sequence[int],
        torque_error: Sequence[float],
        threshold: Sequence[float],
        *,
        latched: bool,
        message: str,
        muted: bool = False,
    ) -> None:
        """Take a message of the collision monitor.

        A collision is acknowledged by a reset of the monitor that found it. A monitor that was
        started again, after a gap of data or with levels that are all UNKNOWN, knows nothing of
        it: then it stays.
        """
        gap = self._sources['monitor'].note_data() or not any(level)
        self._levels.take(names, level, torque_error, threshold, message)
        collision = self._monitor['collision']
        if latched and not self._monitor['latched']:
            since = time.strftime('%H:%M:%S', time.localtime(self._wall()))
            collision = f'{message if "collision" in message else "collision"} at {since}'
        elif self._monitor['latched'] and not latched:
            text = (
                f'{collision} was not acknowledged before the monitor ended'
                if gap
                else 'collision cleared'
            )
            self.events.add('collision monitor', 'error' if gap else 'info', text)
            collision = collision if gap else ''
        if muted != self._monitor['muted']:
            text = 'muted: collisions start no reaction' if muted else 'not muted any more'
            self.events.add('collision monitor', 'warning' if muted else 'info', text)
        self._monitor = {
            'latched': latched, 'message': message, 'muted': muted, 'collision': collision,
        }  # fmt: skip

    def feedforward(
        self,
        names: Sequence[str],
        columns: Mapping[str, Sequence[float]],
        *,
        enabled: bool,
        fault: str,
    ) -> None:
        """Take a message of the feed-forward."""
        self._sources['feedforward'].note_data()
        state = {'enabled': enabled, 'fault': fault}
        for key, text in _changes(self._feedforward, state):
            self.events.add('feed-forward', 'error' if key == 'fault' and fault else 'info', text)
        self._feedforward = state
        rows = zip(*columns.values(), strict=True)
        self._torques = {
            name: dict(zip(columns, row, strict=True))
            for name, row in zip(names, rows, strict=False)
        }
        feedback = {name: row['feedback'] for name, row in self._torques.items()}
        if any(map(math.isfinite, feedback.values())):
            self.take_torque(feedback)

    def take_torque(self, torque: Mapping[str, float]) -> None:
        """Take measured torque of the joints."""
        self._sources['measured'].note_data()
        self._measured = dict(torque)

    def progress(self, task: str, phase: str, share: float, text: str) -> None:
        """Take the feedback of a running action.

        :param share: of the phase that is completed, 0 to 1
        """
        self._progress.take(task, phase, share, text)

    def frame(self) -> str:
        """Return the state as JSON, for the page; levels see `JointLevels.worst`."""
        monitored, measured = self._fresh('monitor'), self._fresh('measured')
        driven = self._fresh('feedforward')
        levels = self._levels.worst()
        joints = []
        for name in self.joints:
            row = self._levels.row(name) if monitored else {}
            torque = self._measured.get(name, math.nan) if measured else math.nan
            added = self._torques.get(name, {}) if driven else {}
            error = row.get('error', math.nan)
            joints.append({
                'name': name,
                'unit': self._units.get(name, 'Nm or N'),
                'level': levels.get(name, NO_DATA) if monitored else NO_DATA,
                'error': _number(error),
                'threshold': _number(row.get('threshold', math.nan)),
                'measured': _number(torque),
                'model': _number(torque + error),
                'requested': _number(added.get('requested', math.nan)),
                'additive': _number(added.get('additive', math.nan)),
            })  # fmt: skip
        return json.dumps({
            'kind': 'frame',
            'time': round(self._wall(), 3),
            'monitor': {**self._monitor, **self._sources['monitor'].facts()},
            'feedforward': {**self._feedforward, **self._sources['feedforward'].facts()},
            'measured': self._sources['measured'].facts(),
            'progress': self._progress.facts(),
            'joints': joints,
        })  # fmt: skip

    def lists(self) -> str:
        """Return diagnostics and events as JSON, for the page."""
        return json.dumps({
            'kind': 'lists',
            'diagnostics': self.diagnostics.rows(),
            'events': self.events.newest_first(),
        })  # fmt: skip

    def fresh(self, name: str) -> bool:
        """Return True if the data of a sender are valid."""
        return self._sources[name].fresh

    def _fresh(self, name: str) -> bool:
        """Return True if a sender's data are valid; add an event when this changes."""
        fresh = self._sources[name].fresh
        if fresh != self._was_fresh[name] and name != 'measured':
            self._was_fresh[name] = fresh
            node = {'monitor': 'collision monitor', 'feedforward': 'feed-forward'}[name]
            text = 'data received' if fresh else 'no data any more'
            self.events.add(node, 'info' if fresh else 'warning', text)
        return fresh


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return key and sentence of each change of the feed-forward's state."""
    words = {
        'enabled': 'torque enabled' if now['enabled'] else 'torque disabled',
        'fault': f'fault: {now["fault"]}' if now['fault'] else 'fault cleared',
    }
    start = {'enabled': None, 'fault': ''}
    old = {**start, **before}
    return [(key, text) for key, text in words.items() if old[key] != now[key]]


def _number(value: float) -> float | None:
    """Return a number with five digits; None where it is not finite, which JSON does not have."""
    return float(f'{value:.5g}') if math.isfinite(value) else None
