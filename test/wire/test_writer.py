# SPDX-License-Identifier: Apache-2.0
import numpy as np

from robodyn_ros.wire.cursor import Cursor
from robodyn_ros.wire.writer import Writer


def test_doubles_are_aligned_unless_there_are_none():
    writer = Writer()
    writer.doubles(np.zeros(0))
    writer.text('abc')
    writer.doubles(np.array([1.5, -2.0]))
    cursor = Cursor(writer.data)
    assert cursor.doubles() == (8, 0)
    assert cursor.text() == 'abc'
    start, count = cursor.doubles()
    assert ((start - 4) % 8, count) == (0, 2)
    assert np.frombuffer(writer.data, '<f8', 2, start).tolist() == [1.5, -2.0]
    cursor.end()
