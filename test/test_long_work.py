# SPDX-License-Identifier: Apache-2.0
"""Cancellation and progress of work, in its thread only."""

import threading

import numpy as np
import pytest
from robots import UR10

from robodyn_ros.excitation.collisions.self_collision import SelfCollisionLimit, SelfCollisionRule
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.plan import distance_between, points_of
from robodyn_ros.long_work import (
    Cancellation,
    CancelledError,
    cancellable,
    poll,
    progress,
    show_progress,
    track,
)
from robodyn_ros.models.serial.urdf import UrdfModel

MODEL = UrdfModel.from_file(UR10)
LIMITS = JointLimits.from_urdf(MODEL.urdf).with_default_acceleration()
MOVE = PointToPoint(joints=LIMITS.joints, start=np.zeros(6), target=np.ones(6), duration=9.0)


def test_only_cancelled_work_ends_and_only_where_it_is_cancellable():
    one, errors = Cancellation(), []
    one.cancel('first')
    one.cancel('second')
    poll()
    with cancellable(Cancellation()):
        poll()
        with cancellable(one), pytest.raises(CancelledError, match=r'^first$'):
            poll()
        poll()

    def other():
        try:
            poll()
        except CancelledError as error:
            errors.append(error)

    with cancellable(one):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert not errors


@pytest.mark.parametrize(
    'work',
    [
        lambda rule: check_motion(MOVE, LIMITS),
        lambda rule: rule.check(MOVE),
        lambda rule: SelfCollisionRule(SelfCollisionLimit(str(UR10)), LIMITS.joints),
        lambda rule: distance_between(points_of(MOVE, 0.1), MOVE),
    ],
)
def test_all_checks_of_a_motion_poll(work):
    rule, cancelled = (
        SelfCollisionRule(SelfCollisionLimit(str(UR10)), LIMITS.joints),
        Cancellation(),
    )
    cancelled.cancel('enough')
    with cancellable(cancelled), pytest.raises(CancelledError):
        work(rule)


def test_work_on_several_items_counts_each_as_a_part():
    seen = []
    progress('without a bar', 0.5)
    with show_progress(lambda phase, share: seen.append((phase, share))):
        for _ in track(['a', 'b'], 'start'):
            progress('read', 0.5)
        for _ in track([1]):
            progress('fit', 1.0)
        progress('end', 0.75)
    progress('without a bar', 1.0)
    assert seen == [
        ('start', 0.0), ('read', 0.25), ('start', 0.5), ('read', 0.75), ('fit', 1.0), ('end', 0.75)
    ]  # fmt: skip
    assert list(track('ab', 'without a bar')) == ['a', 'b']
