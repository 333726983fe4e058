# SPDX-License-Identifier: Apache-2.0
"""Health of the model over the events of a black box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robodyn_ros.control.collision.black_box.event_file import read_health
from robodyn_ros.control.collision.black_box.event_folder import EventFolder
from robodyn_ros.control.collision.black_box.reported import Health
from robodyn_ros.control.health.hypotheses import Cause
from robodyn_ros.errors import RecordingError
from robodyn_ros.long_work import track

DRIFT = (Cause.FRICTION.name, Cause.GAIN.name)
"""Causes that a new identification removes."""


@dataclass(frozen=True)
class HealthOfEvent:
    """Health of the model before an event.

    :param event: name of its folder, which has its date and time
    :param health: None: the event does not know it
    """

    event: str
    reason: str
    model_hash: str
    health: Health | None


def has_events(folder: Path) -> bool:
    """Return True for a folder with events of a black box."""
    return folder.is_dir() and bool(EventFolder(folder, 0.0).events())


def health_over_events(folder: Path) -> tuple[list[HealthOfEvent], list[str]]:
    """Return the events of a black box, oldest first, and why others cannot be read."""
    events, notes = [], []
    for path in track(EventFolder(folder, 0.0).events(), 'reading events'):
        try:
            events.append(HealthOfEvent(path.name, *read_health(path)))
        except RecordingError as error:
            notes.append(str(error))
    return events, notes


def hint(events: Sequence[HealthOfEvent], *, most: int = 5) -> str:
    """Return one sentence about the trend, with what to do.

    :param events: oldest first; only those of the newest model count
    """
    known = [
        each.health
        for each in events
        if each.model_hash == events[-1].model_hash
        and each.health is not None
        and each.health.cause != Cause.UNKNOWN.name
    ]
    if not known:
        return 'no event with this model knows the health of the model: no trend'
    recent = known[-most:]
    drifted = [each for each in recent if each.cause in DRIFT]
    loaded = [each for each in recent if each.cause == Cause.PAYLOAD.name]
    if 2 * len(drifted) > len(recent):
        return (
            f're-identify: friction or torque gain has changed before {len(drifted)} of the last '
            f'{len(recent)} events with known health{_growth(known, drifted[-1].joint)}. Identify '
            f'again, then learn the thresholds again'
        )
    if 2 * len(loaded) > len(recent):
        return (
            f'set the payload: the load at the tool has changed before {len(loaded)} of the last '
            f'{len(recent)} events. Give it with ~/set_payload, or identify again'
        )
    return (
        f'no trend: the model fits before most of the last {len(recent)} events with known health'
    )


def _growth(known: Sequence[Health], joint: str) -> str:
    """Return how much of its threshold the drift of a joint takes, at first and now."""
    shares = [each.share for each in known if each.cause in DRIFT and each.joint == joint]
    if len(shares) < 2:
        return f'; at {joint} it takes {shares[-1]:.0%} of the threshold'
    return (
        f'; at {joint} it took {shares[0]:.0%} of the threshold at first and {shares[-1]:.0%} now'
    )
