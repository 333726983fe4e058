# SPDX-License-Identifier: Apache-2.0
"""Position and velocity of a robot from joint states.

The stop itself is in test_identification_peers.py.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from node_process import joint_state

from robodyn_ros.nodes.robot.robot_stop import MeasuredMotion


@pytest.fixture
def measured():
    now = [0.0]
    clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=round(1e9 * now[0])))
    node = SimpleNamespace(create_subscription=lambda *_: None, get_clock=lambda: clock)
    return MeasuredMotion(node, ['a', 'b']), now


def take(motion, stamp, position):
    motion._on_state(joint_state(['b', 'other', 'a'], stamp, [position[1], 9.0, position[0]]))


def test_velocity_is_signed_and_the_position_is_that_of_now(measured):
    motion, now = measured
    for stamp in np.arange(100.0, 100.2, 0.005):
        take(motion, stamp, [2.0 * stamp, -0.5 * stamp])
        take(motion, stamp, [7.0, 7.0])  # a repeated stamp says nothing
        take(motion, stamp + 1.0, [np.nan, 0.0])
    assert motion.known
    np.testing.assert_allclose(motion.velocity, [2.0, -0.5], atol=1e-6)
    now[0] = stamp + 0.02
    np.testing.assert_allclose(motion.position, [2.0 * now[0], -0.5 * now[0]], atol=1e-6)
    assert not motion.at_rest
    for later in np.arange(stamp + 0.005, stamp + 0.1, 0.005):
        take(motion, later, [1.0, 2.0])
    assert motion.at_rest and (motion.velocity == 0.0).all()


def test_nothing_is_known_before_enough_joint_states(measured):
    motion, _ = measured
    assert not motion.known and not motion.at_rest
    take(motion, 100.0, [1.0, 2.0])
    assert not motion.known
