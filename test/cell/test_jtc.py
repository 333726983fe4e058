# SPDX-License-Identifier: Apache-2.0
"""Facts observed on a real joint_trajectory_controller."""

import numpy as np
import pytest

from robodyn_ros.cell.jtc import JointTrajectoryController
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints


def points(*rows, joints=('a',)):
    """Rows of (time, position[, effort]) for one joint."""
    effort = [[row[2] if len(row) > 2 else np.nan] for row in rows]
    return TrajectoryPoints(
        joints=joints,
        time=[row[0] for row in rows],
        position=[[row[1]] for row in rows],
        effort=effort if any(len(row) > 2 for row in rows) else None,
    )


def controller(position=0.0, **options):
    return JointTrajectoryController(joints=('a',), position=np.array([position]), **options)


def at(jtc, time):
    reference = jtc.update(time)
    return reference.position[0], reference.effort[0]


def test_effort_is_interpolated_from_the_last_commanded_one():
    jtc = controller(1.0)
    jtc.accept(points((1, 2, 8), (2, 2, 4)), now=5.0)
    assert at(jtc, 5.0) == (1.0, 0.0)
    assert at(jtc, 5.5) == (1.5, 4.0)
    assert at(jtc, 6.5) == (2.0, 6.0)
    jtc.accept(points((1, 4, 2)), now=6.5)
    assert at(jtc, 7.0) == (3.0, 4.0)


def test_point_without_effort_counts_as_zero():
    jtc = controller()
    jtc.accept(points((0, 0, 6), (1, 0), (2, 0, 6)), now=0.0)
    assert [at(jtc, t)[1] for t in (0.0, 0.5, 1.0, 1.5)] == [6.0, 3.0, 0.0, 3.0]


def test_success_holds_the_last_point_with_its_effort():
    jtc = controller()
    jtc.accept(points((0, 0, 1), (1, 2, 7)), now=0.0)
    assert jtc.moving
    assert at(jtc, 1.0) == (2.0, 7.0)
    assert not jtc.moving
    assert at(jtc, 100.0) == (2.0, 7.0)
    assert not jtc.update(101.0).velocity.any()


def test_cancel_jumps_to_the_effort_of_the_last_trajectory_that_succeeded():
    jtc = controller()
    jtc.accept(points((0, 0), (1, 1, 4)), now=0.0)
    jtc.update(1.0)
    jtc.accept(points((0, 1, 4), (2, 3, 10)), now=1.0)
    assert at(jtc, 2.0) == (2.0, 7.0)
    jtc.cancel()
    assert at(jtc, 2.1) == (2.0, 4.0)
    assert not jtc.update(2.2).velocity.any()


def test_new_trajectory_replaces_the_running_one_where_it_is():
    jtc = controller()
    jtc.accept(points((0, 0), (1, 1)), now=0.0)
    assert at(jtc, 0.5)[0] == 0.5
    jtc.accept(points((1, 2.5)), now=0.5)
    assert at(jtc, 1.0)[0] == 1.5
    assert at(jtc, 1.5)[0] == 2.5


def test_the_way_to_a_future_point_starts_at_the_time_of_the_last_command():
    """If it started on arrival, the set point would repeat for one cycle."""
    jtc = controller()
    jtc.accept(points((0, 0), (1, 1)), now=0.0)
    jtc.update(0.5)
    jtc.accept(points((0.4, 0.9)), now=0.502)  # on the same line
    assert at(jtc, 0.502)[0] == pytest.approx(0.502, abs=1e-3)
    assert at(jtc, 0.6)[0] == pytest.approx(0.6, abs=1e-3)


def test_future_stamp_stretches_the_way_to_the_first_point():
    jtc = controller(1.0)
    jtc.accept(points((1, 4), (2, 6)), now=0.0, stamp=2.0)
    assert [at(jtc, t)[0] for t in (0.0, 1.5, 3.0, 3.5, 9.0)] == [1.0, 2.5, 4.0, 5.0, 6.0]
    jtc = controller(1.0)
    jtc.accept(points((0, 1), (2, 6)), now=0.0, stamp=2.0)
    assert [at(jtc, t)[0] for t in (1.0, 2.0, 3.0)] == [1.0, 1.0, 3.5]


def test_past_stamp_joins_the_trajectory_where_it_would_be():
    jtc = controller()
    jtc.accept(points((0, 0), (2, 4), (3, 4)), now=1.0, stamp=0.0)
    assert at(jtc, 1.0)[0] == 2.0
    assert at(jtc, 2.0)[0] == 4.0
    with pytest.raises(MotionError, match=r'ended 1\.000 s before it arrived'):
        jtc.accept(points((0, 0), (2, 4)), now=3.0, stamp=0.0)


def test_position_only_controller_refuses_effort_in_the_real_ones_words():
    jtc = controller(position_only=True)
    with pytest.raises(MotionError) as caught:
        jtc.accept(points((0, 0, 1), (1, 1, 1)), now=0.0)
    assert str(caught.value) == (
        "Trajectories with effort fields are only supported for controllers using the 'effort' "
        'command interface'
    )
    jtc.accept(points((0, 0), (1, 1)), now=0.0)
    assert at(jtc, 0.5)[0] == 0.5


def test_trajectories_that_are_refused_change_nothing():
    jtc = controller()
    jtc.accept(points((0, 0), (1, 1)), now=0.0)
    with pytest.raises(MotionError, match="moves joint 'b'"):
        jtc.accept(points((0, 0), joints=('b',)), now=0.2)
    with pytest.raises(MotionError, match="last point must be 0, joint 'a' has 2"):
        jtc.accept(TrajectoryPoints(('a',), [0.0], [[0.0]], [[2.0]]), now=0.2)
    assert at(jtc, 0.5)[0] == 0.5
