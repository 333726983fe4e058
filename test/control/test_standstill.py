from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robodyn_ros.control.standstill import StandstillFriction

SPEEDS = st.sampled_from([-1.0, -0.1, -0.05, 0.0, 0.05, 0.1, 1.0])


def test_friction_stays_where_it_was_until_the_motion_turns():
    held = StandstillFriction(window=[0.1])
    qd = np.array([[0.0], [0.05], [0.2], [0.05], [0.0], [-0.05], [-0.2], [0.0], [0.1], [0.0]])
    expected = [0.0, 0.05, 0.2, 0.1, 0.1, 0.1, -0.2, -0.1, 0.1, 0.1]
    np.testing.assert_array_equal(held.velocities(qd)[:, 0], expected)
    held.clear()
    assert held.velocity(np.array([-0.05])) == -0.05


def test_without_a_window_the_sign_of_the_last_motion_is_kept():
    held = StandstillFriction(window=[0.0, 0.0])
    held.velocity(np.array([2.0, -1e-9]))
    kept = held.velocity(np.zeros(2))
    np.testing.assert_array_equal(np.sign(kept), [1.0, -1.0])
    assert np.abs(kept).max() < 1e-300


@given(arrays(float, (12, 2), elements=SPEEDS), st.integers(0, 12))
def test_many_samples_are_the_same_as_one_after_the_other(qd, first):
    one, other = StandstillFriction(window=[0.1, 0.0]), StandstillFriction(window=[0.1, 0.0])
    steps = [one.velocity(row) for row in qd]
    blocks = [other.velocities(qd[:first]), other.velocities(qd[first:])]
    np.testing.assert_array_equal(np.concatenate(blocks), np.array(steps))
