# SPDX-License-Identifier: Apache-2.0
"""Commanded positions that tell the monitor when the reference rests."""

import numpy as np
import pytest
from node_process import joint_state
from rclpy.serialization import serialize_message

from robodyn_ros.nodes.collision_monitor.inputs import Inputs

NAMES = ['a', 'b']
ZERO = np.zeros(2)


def commands(stamp, names, positions):
    """JointState: its start is that of a JointTrajectoryControllerState."""
    message = joint_state(names, stamp)
    message.position = [float(position) for position in positions]
    return serialize_message(message)


def fed(inputs, names, positions, count=30):
    for row in range(count):
        stamp = 100.0 + 0.01 * row
        inputs.read_commands(commands(stamp, names, positions))
        message = joint_state(NAMES, stamp, ZERO, ZERO, ZERO)
        assert not inputs.read_state(serialize_message(message))
    return inputs.reference_rests


def fresh():
    return Inputs(NAMES, lambda: 0.0, source='feedback', delay=3, timeout=1.0)


@pytest.mark.parametrize(
    ('names', 'positions', 'rests'),
    [
        (['b', 'gripper', 'a'], [0.1, 0.2, 0.3], True),
        (['b'], [0.1], False),
        (['a', 'b'], [], False),
        (['a', 'b'], [0.1, float('nan')], False),
    ],
)
def test_a_reference_rests_if_all_joints_of_the_model_do(names, positions, rests):
    inputs = fresh()
    assert fed(inputs, names, positions) == rests
    assert inputs.reference_known == (len(positions) > 1)


def test_a_joint_of_another_robot_may_move_and_one_of_ours_not():
    inputs = fresh()
    all_names = ['a', 'b', 'gripper']
    assert fed(inputs, all_names, [0.1, 0.2, 0.3])
    inputs.read_commands(commands(100.3, all_names, [0.1, 0.2, 0.4]))
    assert inputs.reference_rests
    inputs.read_commands(commands(100.31, all_names, [0.1, 0.3, 0.4]))
    assert not inputs.reference_rests
    assert fed(inputs, NAMES, [0.1, 0.2], count=5) is False, 'the stamps went back'


def test_commands_that_stop_are_not_known_to_rest_after_some_of_their_intervals():
    inputs = fresh()
    assert fed(inputs, NAMES, [0.1, 0.2])
    for stamp, rests in ((100.33, True), (100.35, False)):
        message = joint_state(NAMES, stamp, ZERO, ZERO, ZERO)
        assert not inputs.read_state(serialize_message(message))
        assert inputs.reference_rests == rests


def test_damaged_commands_are_ignored():
    inputs, whole = fresh(), commands(100.3, NAMES, [0.1, 0.2])
    assert fed(inputs, NAMES, [0.1, 0.2])
    for size in range(len(whole)):
        inputs.read_commands(whole[:size])
    assert inputs.reference_rests
