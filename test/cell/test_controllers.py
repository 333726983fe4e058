# SPDX-License-Identifier: Apache-2.0
"""Claims of the command interfaces."""

import numpy as np
import pytest

from robodyn_ros.cell.controllers import Controllers, ForwardController
from robodyn_ros.errors import CellError, MotionError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints

JOINTS = ('a', 'b')


def controllers(**options):
    return Controllers(joints=JOINTS, position=np.array([0.1, 0.2]), **options)


def line(effort=None):
    rows = None if effort is None else [[effort, effort]] * 2
    return TrajectoryPoints(JOINTS, [1.0, 2.0], [[1.0, 1.0]] * 2, effort=rows)


def test_nothing_commanded_holds_the_position():
    reference = controllers().update(3.0)
    assert reference.position.tolist() == [0.1, 0.2] and not reference.effort.any()


def test_forward_commands_stay_without_time_out():
    cell = controllers()
    cell.accept_position([0.5, 0.6])
    for now in (0.0, 1000.0):
        reference = cell.update(now)
        assert reference.position.tolist() == [0.5, 0.6]


def test_forward_position_takes_over_and_a_trajectory_takes_it_back_from_there():
    cell = controllers()
    cell.accept_trajectory(line(), now=0.0)
    cell.update(0.5)
    cell.accept_position([2.0, 3.0])
    assert cell.update(1.0).position.tolist() == [2.0, 3.0]
    cell.accept_trajectory(line(), now=1.0)
    assert cell.update(1.0).position.tolist() == [2.0, 3.0]
    assert cell.update(1.5).position.tolist() == [1.5, 2.0]


def test_reset_keeps_a_position_only_controller_so():
    cell = controllers(position_only=True)
    cell.reset(np.zeros(2))
    with pytest.raises(MotionError, match="using the 'effort' command interface"):
        cell.accept_trajectory(line(5.0), now=0.0)


def test_a_trajectory_without_points_is_refused_and_the_running_one_goes_on():
    """Seen on ros2_controllers 4.42: "Empty trajectory received.", and the motion ran on."""
    cell = controllers()
    cell.accept_trajectory(line(), now=0.0)
    before = cell.update(0.5).position
    with pytest.raises(MotionError, match=r'Empty trajectory received\.'):
        cell.accept_trajectory(None, now=0.5)
    assert (cell.update(0.6).position != before).all()


@pytest.mark.parametrize(
    ('values', 'sentence'),
    [([1.0], 'needs 2 commands, got 1: deactivated'), ([0.0, np.nan], "joint 'b' that is not")],
)
def test_bad_command_deactivates_and_the_last_one_stays(values, sentence):
    forward = ForwardController(name='forward', joints=JOINTS)
    forward.accept([1.0, 2.0])
    with pytest.raises(CellError, match=sentence):
        forward.accept(values)
    with pytest.raises(CellError, match='forward is deactivated'):
        forward.accept([3.0, 4.0])
    assert forward.active and forward.command.tolist() == [1.0, 2.0]
    forward.reset()
    forward.accept([3.0, 4.0])
    assert forward.command.tolist() == [3.0, 4.0]
