# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bags import TYPES

from robodyn_ros.control.collision.black_box.wrench_topic import DEFINITION, WRENCH, read_wrenches
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.bag_folder import finish_bag
from robodyn_ros.recording.bags.mcap_writer import McapWriter
from robodyn_ros.wire.wrench import encode_wrench


def bag(folder: Path, *messages: bytes) -> Path:
    folder.mkdir()
    writer = McapWriter(folder / 'event_0.mcap', WRENCH)
    for time, data in enumerate(messages, start=1):
        writer.add(data, time)
    writer.flush()
    finish_bag(writer, folder, {})
    return folder


def test_wrenches_are_read_with_their_times(tmp_path: Path) -> None:
    data = [encode_wrench(7 * k, 'base', np.full(6, k)) for k in (1, 2)]
    found = read_wrenches(bag(tmp_path / 'bag', *data))
    assert [(time, stamp, wrench.tolist()) for time, stamp, wrench in found] == [
        (1, 7, [1.0] * 6), (2, 14, [2.0] * 6),
    ]  # fmt: skip


def test_a_damaged_wrench_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match='/collision_monitor/wrench: '):
        read_wrenches(bag(tmp_path / 'bag', b'\0\1\0\0'))


def test_the_type_is_that_of_ros() -> None:
    assert TYPES.generate_msgdef(WRENCH.msgtype, ros_version=2)[0].strip() == DEFINITION.strip()
    assert TYPES.hash_rihs01(WRENCH.msgtype) == WRENCH.type_hash
