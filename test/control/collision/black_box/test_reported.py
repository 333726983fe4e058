# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from collision_events import event

from robodyn_ros.control.collision.black_box.event_file import (
    read_event,
    read_health,
    write_event,
)
from robodyn_ros.control.collision.black_box.replay import replay
from robodyn_ros.control.collision.black_box.reported import Health, Notes, Reported
from robodyn_ros.errors import RecordingError

HEALTH = Health('FRICTION', 0.35, 'joint2', 'friction of joint2 is 12 % lower')
WRENCHES = np.arange(18.0).reshape(3, 6)


def noted(begin: int) -> Reported:
    """Reports of a node, of which the first contact is of an earlier event."""
    notes = Notes()
    notes.restart('base')
    notes.health = HEALTH
    for k, wrench in enumerate(WRENCHES):
        notes.contact(begin + k, begin + 10 * k, wrench, f'contact {k}')
    notes.open(begin + 2)
    notes.health = replace(HEALTH, cause='NONE')
    notes.answer(begin + 3, {'hold': '', 'stop_service': 'called, no answer yet'})
    notes.answer(begin + 4, {'hold': '', 'stop_service': 'called, no answer yet'})
    notes.answer(begin + 5, {'hold': 'the robot is at rest', 'stop_service': ''})
    return notes.since(begin + 1)


def test_reports_are_those_of_the_event() -> None:
    reported = noted(100)
    assert reported.health == HEALTH, 'before the event'
    assert [each.text for each in reported.contacts] == ['contact 1', 'contact 2']
    assert reported.answers == (
        (103, 'stop_service', 'called, no answer yet'), (105, 'hold', 'the robot is at rest'),
        (105, 'stop_service', ''),
    )  # fmt: skip
    assert (reported.frame, reported.start) == ('base', 102)


def test_a_wrench_that_changes_later_is_copied() -> None:
    notes, wrench = Notes(), np.ones(6)
    notes.contact(1, 1, wrench, 'contact')
    wrench[:] = 2.0
    assert notes.since(0).contacts[0].wrench.tolist() == [1.0] * 6


def test_another_model_has_no_reports_yet() -> None:
    notes = Notes()
    notes.health = HEALTH
    notes.contact(1, 1, np.ones(6), 'contact')
    notes.restart('world')
    assert notes.health is None and notes.frame == 'world' and notes.since(0).contacts == ()


def test_another_event_starts_without_answers() -> None:
    notes = Notes()
    notes.open(1)
    notes.answer(2, {'hold': 'commanded'})
    notes.open(3)
    assert notes.since(0).answers == ()
    notes.answer(4, {'hold': 'commanded'})
    assert notes.since(0).answers == ((4, 'hold', 'commanded'),)


def test_a_file_keeps_the_reports(tmp_path: Path) -> None:
    made = event(5)
    made = replace(made, reported=noted(int(made.rows.times[0])))
    write_event(made, tmp_path / 'event')
    again = read_event(tmp_path / 'event')
    for name in ('health', 'answers', 'frame', 'start'):
        assert getattr(again.reported, name) == getattr(made.reported, name), name
    for one, other in zip(again.reported.contacts, made.reported.contacts, strict=True):
        assert (one.time, one.stamp, one.text) == (other.time, other.stamp, other.text)
        assert one.wrench.tobytes() == other.wrench.tobytes()
    assert replay(again) is None
    found = read_health(tmp_path / 'event')
    assert found == (made.reason, made.setup.model.hash, HEALTH)


def test_an_event_without_reports_is_read(tmp_path: Path) -> None:
    write_event(event(5), tmp_path / 'event')
    assert read_event(tmp_path / 'event').reported == Reported()
    assert read_health(tmp_path / 'event')[2] is None
    assert Reported.from_content({}, []) == Reported()


def test_texts_without_wrenches_and_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match='it has 1 contacts, but 0 wrenches'):
        Reported.from_content({'contacts': ['contact']}, [])
    with pytest.raises(RecordingError, match='is no event'):
        read_health(tmp_path)
