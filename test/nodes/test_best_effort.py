from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2')
from rclpy.qos import ReliabilityPolicy

from robodyn_ros.nodes.best_effort import LARGEST, parts

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
    ],
)
def test_only_those_who_listen_best_effort_need_smaller_messages(policies, size, expected):
    assert parts(node(*policies), '/topic', size) == expected
