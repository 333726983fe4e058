# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from collision_events import event

from robodyn_ros.analysis.health_trend import (
    HealthOfEvent,
    has_events,
    health_over_events,
    hint,
)
from robodyn_ros.control.collision.black_box.event_file import write_event
from robodyn_ros.control.collision.black_box.reported import Health, Reported


def row(cause: str, share: float = 0.2, joint: str = 'joint2', model: str = 'a') -> HealthOfEvent:
    return HealthOfEvent('event', 'collision', model, Health(cause, share, joint, 'text'))


def test_friction_that_grows_asks_for_a_new_identification() -> None:
    rows = [
        row('NONE'),
        row('FRICTION', 0.15),
        row('PAYLOAD'),
        row('FRICTION', 0.5),
        row('GAIN', 0.6),
    ]
    text = hint(rows)
    assert text.startswith('re-identify: ') and 'before 3 of the last 5 events' in text
    assert 'at joint2 it took 15% of the threshold at first and 60% now' in text
    assert 'it takes 15% of the threshold' in hint(rows[1:2])


def test_only_the_newest_events_count() -> None:
    rows = [row('FRICTION')] * 20 + [row('NONE')] * 3
    assert hint(rows).startswith('no trend: the model fits before most of the last 5')
    assert hint([*rows, *[row('FRICTION')] * 3]).startswith('re-identify')
    assert hint([row('FRICTION'), row('NONE')]).startswith('no trend'), 'half is no majority'


def test_an_unknown_payload_asks_for_the_payload() -> None:
    assert hint([row('PAYLOAD'), row('PAYLOAD'), row('NONE')]).startswith('set the payload: ')
    assert hint([row('PAYLOAD'), row('NONE')]).startswith('no trend')


def test_events_of_an_earlier_model_do_not_count() -> None:
    rows = [row('FRICTION', model='a')] * 5 + [row('NONE', model='b')]
    assert hint(rows).startswith('no trend: the model fits before most of the last 1')


@pytest.mark.parametrize('last', [row('UNKNOWN'), HealthOfEvent('event', 'collision', 'a', None)])
def test_unknown_health_is_no_health(last: HealthOfEvent) -> None:
    assert 'no event with this model knows' in hint([last])
    assert hint([row('GAIN'), last]).startswith('re-identify')


def test_events_are_read_oldest_first_and_damaged_ones_are_named(tmp_path: Path) -> None:
    assert not has_events(tmp_path) and not has_events(tmp_path / 'none')
    made = event(6)
    for name, health in (('event_20260301_080000', Health('GAIN', 0.4, 'joint1', 'check it')),
                         ('event_20260201_080000', None)):  # fmt: skip
        write_event(replace(made, reported=Reported(health)), tmp_path / name)
    (tmp_path / 'event_20260401_080000').mkdir()
    (tmp_path / 'event_20260401_080000' / 'event_0.mcap').write_bytes(b'no bag')
    assert has_events(tmp_path)
    rows, notes = health_over_events(tmp_path)
    assert [each.event[-15:-7] for each in rows] == ['20260201', '20260301']
    assert rows[0].health is None and rows[1].health is not None
    assert rows[1].health.cause == 'GAIN' and rows[1].model_hash == made.setup.model.hash
    assert len(notes) == 1 and 'event_20260401_080000' in notes[0]
