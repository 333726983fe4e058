# SPDX-License-Identifier: Apache-2.0
"""Black box of a real monitor on a disk that becomes full."""

import shutil

import pytest
from collision_client import COLLISION, OK, Monitor, levels
from node_process import closed
from ros_client import details
from small_disk import fill, small_disk

from robodyn_ros.control.collision.black_box.event_file import read_event
from robodyn_ros.control.collision.black_box.event_folder import EventFolder
from robodyn_ros.control.collision.black_box.replay import replay

pytestmark = pytest.mark.ros


def test_a_full_disk_loses_events_but_not_the_node(tmp_path):
    with small_disk(tmp_path / 'disk', 1.3e6) as disk:
        folder = EventFolder(disk / 'events', 0.0)
        cell = Monitor(
            tmp_path, 22, black_box_directory=folder.path, black_box_before='1.0',
            black_box_after='0.0',
        )  # fmt: skip
        with closed(cell):
            process = cell.process

            def hit(entry, wanted):
                """Raise an alarm, and wait until its event is written or lost."""
                cell.run(60)
                assert (levels(cell.run(1)) == OK).all(), cell.states[-1].message
                assert levels(cell.run(15, push=9.0))[-1, 1] == COLLISION
                cell.run(60)
                assert process.reset().success
                process.wait(lambda: process.status() and told()[entry] == wanted, entry)

            def told():
                return details(process.diagnostics[-1].status[0])

            written = 0
            while len(folder.events()) == written < 15:
                written += 1
                hit('events', str(written))
            assert 0 < len(folder.events()) < written, 'the oldest have made room'
            assert all(replay(read_event(path)) is None for path in folder.events())
            shutil.rmtree(folder.path)
            fill(disk / 'rival')
            hit('events_lost', '1')
            assert 'No space left on device' in told()['last_event']
            (disk / 'rival').unlink()
            hit('events', str(written + 1))
            assert process.interrupt() == 0
