# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
import os
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from collision_events import event
from small_disk import fill, small_disk

from robodyn_ros.control.collision.black_box import event_folder
from robodyn_ros.control.collision.black_box.event import Event
from robodyn_ros.control.collision.black_box.event_file import read_event
from robodyn_ros.control.collision.black_box.event_folder import EventFolder
from robodyn_ros.control.collision.black_box.event_writer import EventWriter
from robodyn_ros.control.collision.black_box.replay import replay
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.mcap_writer import _Disk


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, int]:
    """A disk with so many bytes for events, each of `size` bytes, and for a rival program."""
    state = {'free': 10**9, 'size': 1000, 'rival': 0}

    def left() -> int:
        used = sum(file.stat().st_size for file in tmp_path.rglob('event_0.mcap'))
        return state['free'] - used

    def write(event: object, folder: Path) -> None:
        used = state['free'] - left()
        state['free'] -= left() if state['rival'] else 0
        folder.mkdir()
        if used + state['size'] > state['free']:
            (folder / 'event_0.mcap').write_bytes(bytes(10))
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        (folder / 'event_0.mcap').write_bytes(bytes(state['size']))

    monkeypatch.setattr(event_folder, 'write_event', write)
    monkeypatch.setattr(shutil, 'disk_usage', lambda _: SimpleNamespace(free=left()))
    return state


def test_the_oldest_events_make_room_and_nothing_else(disk, tmp_path: Path) -> None:
    folder = EventFolder(tmp_path, limit=3500)
    (tmp_path / 'event_20200101_000000').mkdir()  # not an event: it has no bag
    (tmp_path / 'mine.txt').write_text('kept')
    added = [folder.add(None) for _ in range(12)]  # type: ignore[arg-type]
    assert folder.events() == added[-3:]
    kept = {'event_20200101_000000', 'mine.txt', *(path.name for path in added[-3:])}
    assert {path.name for path in tmp_path.iterdir()} == kept


@pytest.mark.parametrize('code', [errno.EMFILE, errno.EFBIG])
def test_what_deleting_cannot_mend_deletes_nothing(disk, tmp_path, monkeypatch, code) -> None:
    folder = EventFolder(tmp_path / 'a' / 'b', limit=1e9)
    kept = folder.add(None)  # type: ignore[arg-type]

    def fail(event: object, place: Path) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(event_folder, 'write_event', fail)
    with pytest.raises(RecordingError, match=f'an event is lost: {os.strerror(code)}'):
        folder.add(None)  # type: ignore[arg-type]
    assert folder.events() == [kept]


def test_a_full_disk_loses_the_oldest_event_or_the_new_one(disk, tmp_path: Path) -> None:
    folder = EventFolder(tmp_path / 'events', limit=1e9)
    first, second = folder.add(None), folder.add(None)  # type: ignore[arg-type]
    disk['free'] = 2500
    third = folder.add(None)  # type: ignore[arg-type]
    assert folder.events() == [second, third] and not first.exists()
    disk['size'] = 3000
    with pytest.raises(RecordingError, match='an event is lost: No space left on device'):
        folder.add(None)  # type: ignore[arg-type]
    assert list((tmp_path / 'events').iterdir()) == []


def test_a_program_that_takes_all_space_costs_one_old_event_at_most(disk, tmp_path: Path) -> None:
    folder = EventFolder(tmp_path, limit=1e9)
    added = [folder.add(None) for _ in range(6)]  # type: ignore[arg-type]
    disk['rival'] = 1
    with pytest.raises(RecordingError, match='an event is lost: No space left on device'):
        folder.add(None)  # type: ignore[arg-type]
    assert folder.events() == added[1:]


def large_event(folder: Path) -> tuple[Event, int]:
    """An event, larger than the space that a file reserves for its index, and its size."""
    made = event(3, count=1300, capacity=1600)
    return made, sum(file.stat().st_size for file in EventFolder(folder, 1e9).add(made).iterdir())


@pytest.mark.parametrize('share', [2.1, 2.9])
def test_a_real_full_disk_keeps_the_newest_events_in_every_bit(tmp_path: Path, share) -> None:
    made, size = large_event(tmp_path)
    with small_disk(tmp_path / 'disk', share * size) as place:
        folder = EventFolder(place / 'events', 1e9)
        added = [folder.add(made) for _ in range(4)]
        kept = folder.events()
        assert kept and kept == added[-len(kept) :] == sorted(folder.path.iterdir())
        assert all(replay(read_event(path)) is None for path in kept)


@pytest.mark.parametrize('share', [2.1, 3.2])
def test_an_index_without_space_costs_the_oldest_event(tmp_path, monkeypatch, share) -> None:
    """Another program writes between the data of an event and its index."""
    made, size = large_event(tmp_path)
    with small_disk(tmp_path / 'disk', share * size) as place:
        folder = EventFolder(place / 'events', 1e9)
        kept = [folder.add(made) for _ in range(int(share) - 1)]
        release = _Disk.release

        def taken(file: _Disk) -> None:
            release(file)
            if not (place / 'rival').exists():
                fill(place / 'rival')

        monkeypatch.setattr(_Disk, 'release', taken)
        newest = folder.add(made)
        assert folder.events() == [*kept[1:], newest]
        assert replay(read_event(newest)) is None


def test_an_event_above_the_limit_is_lost_alone(disk, tmp_path: Path) -> None:
    folder = EventFolder(tmp_path, limit=1500)
    kept = folder.add(None)  # type: ignore[arg-type]
    disk['size'] = 2000
    with pytest.raises(RecordingError, match='black_box_size'):
        folder.add(None)  # type: ignore[arg-type]
    assert folder.events() == [kept]


def test_the_thread_survives_every_error(disk, tmp_path: Path) -> None:
    blocked = tmp_path / 'file'
    blocked.write_text('no folder')
    writer = EventWriter(EventFolder(blocked / 'events', 1e9))
    for make in (lambda: None, lambda: 1 / 0, lambda: 'event'):
        writer.put(make)  # type: ignore[arg-type]
    writer.finish(5.0)
    assert (writer.written, writer.lost) == (0, 3)
    assert 'an event is lost: Not a directory' in writer.last
    taken, gate = threading.Event(), threading.Event()
    writer.put(lambda: (taken.set(), gate.wait(30.0))[0])
    assert taken.wait(30.0)
    for _ in range(5):  # four wait, the fifth is lost at once
        writer.put(lambda: None)
    assert (writer.lost, writer.last) == (4, 'lost: too many events at once')
    gate.set()
    good = EventWriter(EventFolder(tmp_path / 'events', 1e9))
    good.put(lambda: 'event')  # type: ignore[arg-type, return-value]
    good.finish(5.0)
    assert (good.written, good.lost) == (1, 0) and Path(good.last).is_dir()
