# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from pathlib import Path

import pytest
from small_disk import fill, small_disk

from robodyn_ros.control.collision.event_bag import (
    SETTINGS,
    EventSettings,
    delete_oldest,
    events_in,
    read_settings,
    write_event,
)
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.joint_state_bag import joint_state_topic

GIVEN = EventSettings('collision at b', 10**18, '/result.yaml', 'abc', [1.5, 2.0], {'debounce': 2})


def write(folder: Path, count: int = 10) -> Path:
    messages = [(0, 10**18 + number, bytes(1000)) for number in range(count)]
    return write_event(folder, GIVEN, [joint_state_topic('/joint_states')], messages, {})


def test_events_of_one_second_keep_their_order_and_the_oldest_go_first(tmp_path: Path) -> None:
    (tmp_path / 'event_of_mine').mkdir()
    made = [write(tmp_path / 'events') for _ in range(12)]
    assert events_in(tmp_path / 'events') == made and not events_in(tmp_path)
    assert read_settings(made[0]) == GIVEN
    size = sum(file.stat().st_size for file in made[0].iterdir())
    delete_oldest(tmp_path / 'events', 3.5 * size)
    assert events_in(tmp_path / 'events') == made[-3:]
    delete_oldest(tmp_path / 'events', 0.0)
    assert events_in(tmp_path / 'events') == made[-1:], 'the newest is kept'


def test_a_full_disk_loses_an_event_completely(tmp_path: Path) -> None:
    with small_disk(tmp_path / 'disk', 1.5e6) as disk:
        first = write(disk / 'events')
        fill(disk / 'rival')
        with pytest.raises(RecordingError, match='an event is lost: No space left on device'):
            write(disk / 'events', 1000)
        assert list((disk / 'events').iterdir()) == [first]


@pytest.mark.parametrize('text', ['', '[1]', 'reason: x', '{', 'values: [a]'])
def test_damaged_settings_are_refused_with_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / SETTINGS).write_text(text)
    with pytest.raises(RecordingError, match=re.escape(str(tmp_path / SETTINGS))):
        read_settings(tmp_path)
