# SPDX-License-Identifier: Apache-2.0
"""Delivery of torque commands, by the state of a controller."""

import pytest

from robodyn_ros.control.feedforward.delivery import Delivery, TargetState

JOINTS = ('a', 'b')
EFFORTS = ('a/effort', 'b/effort', 'b/position')


@pytest.mark.parametrize(
    'state, claimed, delivery, problem',
    [
        ('', None, Delivery.UNKNOWN, ''),
        ('active', None, Delivery.DELIVERED, ''),
        ('active', EFFORTS, Delivery.DELIVERED, ''),
        ('active', ('a/effort', 'b/position'), Delivery.NOT_DELIVERED,
         '/fec does not hold the effort interface of b'),
        ('active', (), Delivery.NOT_DELIVERED,
         '/fec does not hold the effort interface of a, b'),
        ('inactive', (), Delivery.NOT_DELIVERED, '/fec is not active (inactive)'),
        ('deactivating', None, Delivery.NOT_DELIVERED, '/fec is not active (deactivating)'),
        ('not loaded', None, Delivery.NOT_DELIVERED, '/fec is not active (not loaded)'),
    ],
)  # fmt: skip
def test_commands_are_delivered_by_an_active_controller_that_holds_the_effort_interfaces(
    state, claimed, delivery, problem
):
    target = TargetState('/fec', state, claimed)
    assert target.problem(JOINTS) == problem
    assert target.delivery(JOINTS) is delivery
