# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.control.feedforward.command_target import CommandTarget
from robodyn_ros.errors import ControlError

JOINTS = ('a', 'b')


def test_controllers_that_fit():
    CommandTarget('jtc', ('b', 'a'), ('position', 'effort')).check_trajectories(JOINTS)
    CommandTarget('forward', JOINTS, ('effort',)).check_efforts(JOINTS)
    # What fits one kind of command does not fit the other.
    with pytest.raises(ControlError, match=r"jtc commands \['position', 'effort'\], torque would"):
        CommandTarget('jtc', JOINTS, ('position', 'effort')).check_efforts(JOINTS)


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
    with pytest.raises(ControlError, match='takes the joints'):
        CommandTarget('forward', joints, ('effort',)).check_efforts(JOINTS)


def test_efforts_have_no_names_so_the_order_counts_and_the_interface_must_be_effort():
    with pytest.raises(ControlError, match='in this order'):
        CommandTarget('forward', ('b', 'a'), ('effort',)).check_efforts(JOINTS)
    with pytest.raises(ControlError, match='torque would be taken for that'):
        CommandTarget('forward', JOINTS, ('velocity',)).check_efforts(JOINTS)
