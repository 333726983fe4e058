# SPDX-License-Identifier: Apache-2.0
"""Commanded positions from the state of a joint_trajectory_controller."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')
from node_process import joint_state
from rclpy.serialization import serialize_message

from robodyn_ros.nodes.collision_monitor.inputs import Inputs

NAMES = ['a', 'b']


def controller_state(stamp, names, positions):
    seconds = int(stamp)
    time = SimpleNamespace(sec=seconds, nanosec=round(1e9 * (stamp - seconds)))
    return SimpleNamespace(
        header=SimpleNamespace(stamp=time), joint_names=names,
        reference=SimpleNamespace(positions=positions),
    )  # fmt: skip


def fed(inputs, names, positions, count=30):
    for row in range(count):
        stamp = 100.0 + 0.01 * row
        inputs.read_controller_state(controller_state(stamp, names, positions))
        message = joint_state(NAMES, stamp, np.zeros(2), np.zeros(2), np.zeros(2))
        assert not inputs.read_state(serialize_message(message), 1.0)
    return inputs.reference_rests


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
    assert fed(Inputs(NAMES, source='feedback', delay=3), names, positions) == rests


def test_a_joint_of_another_robot_may_move_and_one_of_ours_not():
    inputs = Inputs(NAMES, source='feedback', delay=3)
    assert fed(inputs, ['a', 'b', 'gripper'], [0.1, 0.2, 0.3])
    inputs.read_controller_state(controller_state(100.3, [*NAMES, 'gripper'], [0.1, 0.2, 0.4]))
    assert inputs.reference_rests
    inputs.read_controller_state(controller_state(100.31, [*NAMES, 'gripper'], [0.1, 0.3, 0.4]))
    assert not inputs.reference_rests
    assert fed(inputs, NAMES, [0.1, 0.2], count=5) is False, 'the stamps went back'


def test_after_a_restart_nothing_is_known():
    inputs = Inputs(NAMES, source='feedback', delay=3)
    assert fed(inputs, NAMES, [0.1, 0.2])
    inputs.restart()
    assert not inputs.reference_rests
