# SPDX-License-Identifier: Apache-2.0
"""Facts of an event of the black box: cause, course, place and force, reactions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from robodyn_ros.control.collision.black_box.call_ring import Rows
from robodyn_ros.control.collision.black_box.event import Event
from robodyn_ros.control.collision.black_box.replay import Difference
from robodyn_ros.control.collision.black_box.reported import ContactReport
from robodyn_ros.control.collision.detector import Level
from robodyn_ros.models.interface import Array
from robodyn_ros.report.numbers import choose_evenly

NONE = 'not recorded'
"""Reports that the node had not, or that its version did not record."""


def event_facts(event: Event, found: Difference | None) -> dict[str, Any]:
    """Return what an event shows; times are in [s] since its first call."""
    rows, reported = event.rows, event.reported
    begin = int(rows.times[0])
    hardest = max(contacts_of(event), key=_force, default=None)
    health = reported.health
    return {
        'reason': event.reason,
        'first_call': datetime.fromtimestamp(1e-9 * begin).isoformat(' ', 'milliseconds'),
        'reactions_started': _seconds(start_of(event), begin),
        'contact': NONE if hardest is None else hardest.text,
        'wrench_axes': reported.frame,
        'model_health': NONE if health is None else health.text,
        'model_hash': event.setup.model.hash,
        'calls': len(rows.times),
        'duration': _seconds(int(rows.times[-1]), begin),
        'joints': _joints(rows, event.setup.settings.joints),
        'reactions': [
            {'time': _seconds(at, begin), 'reaction': name, 'state': text or 'cleared'}
            for at, name, text in reported.answers
        ],
        'wrenches': [
            _wrench(reported.contacts[row], begin)
            for row in choose_evenly(len(reported.contacts), 40).tolist()
        ],
        'messages': [
            {'time': _seconds(int(rows.times[row]), begin), 'text': text}
            for row, text in rows.messages
        ],
        'equal': found is None,
        'difference': None if found is None else vars(found),
    }


def start_of(event: Event) -> int:
    """Return the time of the computer at the start of the reactions, in [ns].

    An event that does not know it has the time of the first collision, or of its first call.
    """
    if event.reported.start:
        return event.reported.start
    rows = np.flatnonzero((event.rows.level == Level.COLLISION).any(axis=1))
    return int(event.rows.times[rows[0] if len(rows) else 0])


def contacts_of(event: Event) -> list[ContactReport]:
    """Return the estimates of the contact that started the reactions, not of earlier ones."""
    rows, start = event.rows, start_of(event)
    calm = (rows.level <= Level.OK).all(axis=1) & (rows.times < start)
    before = np.flatnonzero(calm)
    begin = int(rows.times[before[-1]]) if len(before) else 0
    return [each for each in event.reported.contacts if each.time >= begin]


def _seconds(time: int, begin: int) -> float:
    return 1e-9 * (time - begin)


def _force(contact: ContactReport) -> float:
    return float(np.linalg.norm(contact.wrench[:3]))


def _wrench(contact: ContactReport, begin: int) -> Mapping[str, Any]:
    values = dict(zip(('fx', 'fy', 'fz', 'mx', 'my', 'mz'), contact.wrench.tolist(), strict=True))
    return {
        'time': _seconds(contact.time, begin), 'force': _force(contact), **values,
        'text': contact.text,
    }  # fmt: skip


def _joints(rows: Rows, names: Any) -> list[dict[str, Any]]:
    """Return course and largest torque error of each joint."""
    time = 1e-9 * (rows.times - rows.times[0])
    error = np.abs(rows.results[:, 0])
    peak = error.argmax(axis=0)
    return [
        {
            'name': name,
            'torque_error': float(error[row, joint]),
            'threshold': float(rows.results[row, 1, joint]),
            'time': float(time[row]),
            'contact_from': _first(rows.level[:, joint] >= Level.CONTACT, time),
            'collision_from': _first(rows.level[:, joint] == Level.COLLISION, time),
            'worst': Level(int(rows.level[:, joint].max())).name,
        }
        for joint, (name, row) in enumerate(zip(names, peak, strict=True))
    ]


def _first(where: Any, time: Array) -> float | None:
    rows = np.flatnonzero(where)
    return float(time[rows[0]]) if len(rows) else None
