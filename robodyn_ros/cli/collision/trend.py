# SPDX-License-Identifier: Apache-2.0
"""`robodyn collisions FOLDER`: health of the model over the events of a black box."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robodyn_ros.analysis.health_trend import HealthOfEvent, health_over_events, hint
from robodyn_ros.errors import RecordingError

Rows = list[tuple[str, ...]]


def trend(folder: Path) -> tuple[dict[str, Any], Rows, str]:
    """Return facts, rows with a header, and text.

    :raises RecordingError: no event can be read
    """
    events, notes = health_over_events(folder)
    if not events:
        raise RecordingError(f'{folder}: none of its {len(notes)} events can be read: {notes[0]}')
    rows = [('event', 'cause', 'joint', 'share', 'model', 'reason', 'health'), *map(_row, events)]
    facts = {
        'folder': str(folder),
        'events': [dict(zip(rows[0], row, strict=True)) for row in rows[1:]],
        'notes': notes,
        'hint': hint(events),
    }
    return facts, rows, _text(facts, rows)


def _row(event: HealthOfEvent) -> tuple[str, ...]:
    health, model = event.health, event.model_hash[:12]
    if health is None:
        return event.event, 'not recorded', '', '', model, event.reason, ''
    share = f'{health.share:.2f}'
    return event.event, health.cause, health.joint, share, model, event.reason, health.text


def _text(facts: dict[str, Any], rows: Rows) -> str:
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = [
        '  '.join([*(f'{row[k]:<{width}}' for k, width in enumerate(widths)), row[-1]]).rstrip()
        for row in rows
    ]
    return '\n'.join([*lines, *facts['notes'], '', facts['hint']])
