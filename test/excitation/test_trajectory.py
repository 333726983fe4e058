# SPDX-License-Identifier: Apache-2.0
"""Motions one after the other, and grids."""

import numpy as np
import pytest
from motions import JOINTS, assert_derivatives, assert_rest_at_ends, random_sine

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.trajectory import Chain


def move(start, target, duration=1.0, joints=JOINTS):
    return PointToPoint(joints=joints, start=start, target=target, duration=duration)


def test_chain_runs_its_parts_in_turn():
    sine = random_sine(2)
    parts = [move([0.0] * 3, sine.start), move(sine.start, sine.start, 0.5), sine]
    chain = Chain(parts=parts)
    assert chain.duration == pytest.approx(1.5 + sine.duration)
    inner = [part.breaks + start for part, start in zip(parts, (0.0, 1.0, 1.5), strict=True)]
    assert sorted(chain.breaks) == sorted([1.0, 1.5, *np.concatenate(inner)])
    assert_rest_at_ends(chain)
    assert_derivatives(chain)
    time = np.array([0.3, 1.2, 1.5 + 0.4 * sine.duration])
    motion = chain.sample(time)
    for row, (part, local) in enumerate(zip(parts, (0.3, 0.2, 0.4 * sine.duration), strict=True)):
        expected = part.sample(np.array([local]))
        np.testing.assert_allclose(motion.position[row], expected.position[0], atol=1e-12)
        np.testing.assert_allclose(motion.velocity[row], expected.velocity[0], atol=1e-12)
    assert chain.sample(np.empty(0)).position.shape == (0, 3)


def test_chain_without_a_fitting_part_is_refused():
    first = move([0.0] * 3, [1.0] * 3)
    with pytest.raises(MotionError, match=r"joint 'b' jumps from 1 to 1\.5"):
        Chain(parts=[first, move([1.0, 1.5, 1.0], [0.0] * 3)])
    with pytest.raises(MotionError, match='must have the joints'):
        Chain(parts=[first, move([1.0], [0.0], joints=['a'])])
    with pytest.raises(MotionError, match='at least one part'):
        Chain(parts=[])


def test_grid_has_both_ends_and_at_most_the_period():
    motion = move([0.0] * 3, [1.0] * 3, duration=0.95)
    time = motion.grid(0.1).time
    assert time[0] == 0.0 and time[-1] == 0.95 and np.diff(time).max() <= 0.1
    assert len(motion.grid(0.95 / 7).time) == 8
    for period in (0.0, -1.0, np.nan):
        with pytest.raises(MotionError, match='sampling period must be positive'):
            motion.grid(period)
