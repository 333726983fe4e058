# SPDX-License-Identifier: Apache-2.0
import numpy as np

from robodyn_ros.control.torque.standstill import StandstillFriction


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
    zero = np.zeros(2)
    kept = held.velocity(zero)
    assert not zero.any(), 'the reference of the caller stays as it is'
    np.testing.assert_array_equal(np.sign(kept), [1.0, -1.0])
    assert np.abs(kept).max() < 1e-300


def test_friction_stays_for_half_of_the_fade_time_and_is_gone_at_its_end():
    held = StandstillFriction(window=[0.1, 0.1], fade_time=0.04, period=0.002)
    qd = np.array([[0.3, -0.3], *[[0.0, 0.05]] * 25])
    taken = held.velocities(qd)
    rest = 0.002 * np.arange(1, 26)
    share = np.interp(rest, [0.02, 0.04], [1.0, 0.0])
    np.testing.assert_allclose(taken[1:, 0], 0.1 * share, atol=1e-15)
    # A joint that creeps goes over to the friction of its velocity.
    np.testing.assert_allclose(taken[1:, 1], -0.1 * share + 0.05 * (1.0 - share), atol=1e-15)
    assert held.velocity(np.array([0.0, 0.05])).tolist() == [0.0, 0.05]
    assert held.velocities(np.array([[-0.3, 0.0], [0.0, 0.0]]))[-1].tolist() == [-0.1, 0.0]
