# SPDX-License-Identifier: Apache-2.0
from types import SimpleNamespace

import pytest
from rclpy.qos import ReliabilityPolicy

from robodyn_ros.bounds import MESSAGE
from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.base.best_effort import FARTHEST, LARGEST, check_points, parts

RELIABLE, BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT


def node(*policies):
    return SimpleNamespace(
        get_subscriptions_info_by_topic=lambda topic: [
            SimpleNamespace(qos_profile=SimpleNamespace(reliability=policy)) for policy in policies
        ]
    )


@pytest.mark.parametrize(
    ('policies', 'size', 'expected'),
    [
        ((), 10 * LARGEST, 1),
        ((RELIABLE, RELIABLE), 10 * LARGEST, 1),
        ((RELIABLE, BEST_EFFORT), 10 * LARGEST, 10),
        ((BEST_EFFORT,), 1.0, 1),
        ((BEST_EFFORT,), LARGEST, 1),
        ((BEST_EFFORT,), 1.01 * LARGEST, 2),
        ((), 15.1 * MESSAGE.most, 16),
        ((RELIABLE,), MESSAGE.most, 1),
        ((RELIABLE,), 15.1 * MESSAGE.most, 16),
    ],
)
def test_those_who_listen_best_effort_need_smaller_messages(policies, size, expected):
    assert parts(node(*policies), '/topic', size) == expected


def test_a_motion_that_the_points_no_longer_describe_is_refused():
    check_points(600.0, 0.05, FARTHEST)
    check_points(600.0, 0.05, FARTHEST, longest=0.05)
    with pytest.raises(ControlError, match=r'of 600 s .* every 50 ms, .* up to 0\.02 rad'):
        check_points(600.0, 0.05, 0.02)
    with pytest.raises(ControlError, match=r'off its way, and torque would not be gone within'):
        check_points(600.0, 0.051, 0.0, longest=0.05)
