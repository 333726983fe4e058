# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from robodyn_ros.control.collision.trigger import Mute
from robodyn_ros.errors import ControlError


def test_a_mute_ends_by_itself_and_says_so_once() -> None:
    mute = Mute(10.0)
    assert not mute.ends(0.0) and not mute.started
    mute.start(0.0, 2.0)
    assert mute.started and mute.remaining(1.5) == 0.5
    assert not mute.ends(1.9) and mute.ends(2.0) and not mute.ends(2.1)
    assert mute.remaining(2.1) == 0.0 and not mute.started


def test_zero_ends_a_mute_at_once() -> None:
    mute = Mute(10.0)
    mute.start(0.0, 0.0)
    assert not mute.ends(1.0)
    mute.start(0.0, 5.0)
    mute.start(1.0, 0.0)
    assert mute.ends(1.0) and mute.remaining(1.0) == 0.0


@pytest.mark.parametrize('duration', [-0.1, 10.1, float('nan'), float('inf')])
def test_a_duration_out_of_range_is_refused(duration: float) -> None:
    with pytest.raises(ControlError, match='from 0 to 10 s'):
        Mute(10.0).start(0.0, duration)
