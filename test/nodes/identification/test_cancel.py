# SPDX-License-Identifier: Apache-2.0
"""A cancel ends a computation: in its thread where it looks, and the wait for it anyway."""

from types import SimpleNamespace

import pytest

from robodyn_ros.long_work import CancelledError
from robodyn_ros.nodes.identification.cancel import Cancel


def test_the_computation_ends_where_it_looks(clock):
    handle = SimpleNamespace(is_cancel_requested=False)
    cancel = Cancel(handle)
    cancel.progress('fit', 0.5)
    cancel.check()
    handle.is_cancel_requested = True
    with pytest.raises(CancelledError, match='cancelled while identifying: nothing was written'):
        cancel.progress('fit', 0.6)


def test_the_wait_ends_where_it_does_not_look_and_it_still_writes_nothing(clock):
    handle = SimpleNamespace(is_cancel_requested=True)
    cancel = Cancel(handle)
    cancel.check()
    clock[0] += 9.0
    cancel.check()
    clock[0] += 2.0
    with pytest.raises(CancelledError, match='ends later and writes nothing'):
        cancel.check()
    handle.is_cancel_requested = False  # rclpy: the goal is over
    with pytest.raises(CancelledError):
        cancel.progress('writing', 1.0)


def test_progress_reaches_the_waiting_side_once_per_change(clock):
    told = []
    cancel = Cancel(None, lambda share, text: told.append((share, text)))
    cancel.progress('condense', 0.0)
    clock[0] += 2.0
    cancel.progress('condense', 0.25)
    assert told == [], 'the thread itself tells nothing'
    cancel.check()
    cancel.check()
    cancel.progress('writing', 1.0)
    cancel.check()
    assert told == [
        (0.25, 'condense, about 6 s to the end of this step'),
        (1.0, 'writing'),
    ]
