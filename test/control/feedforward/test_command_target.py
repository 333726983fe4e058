# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.control.feedforward.command_target import CommandTarget
from robodyn_ros.errors import ControlError

JOINTS = ('a', 'b')


def test_a_controller_that_fits():
    CommandTarget('jtc', ('b', 'a'), ('position', 'effort')).check_trajectories(JOINTS)


def test_a_position_only_controller_is_refused_with_what_to_change():
    target = CommandTarget('jtc', JOINTS, ('position',))
    with pytest.raises(
        ControlError,
        match=r"jtc commands \['position'\] and refuses every trajectory that has effort: "
        r'set its command_interfaces to \[position, effort\]',
    ):
        target.check_trajectories(JOINTS)


@pytest.mark.parametrize('joints', [('a',), ('a', 'b', 'c'), ('a', 'x'), ()])
def test_other_joints_are_refused(joints):
    with pytest.raises(ControlError, match='commands the joints'):
        CommandTarget('jtc', joints, ('position', 'effort')).check_trajectories(JOINTS)
